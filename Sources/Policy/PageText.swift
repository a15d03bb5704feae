/// A text on the gateway's pages. The raw value is the key of the text in the files of each language.
///
/// The texts of scopes are not cases: their keys are `scope.` and the name of any scope.
public enum PageText: String, Sendable, CaseIterable {
  case help

  case appUnnamed = "app.unnamed"
  case appSelfNamed = "app.self_named"

  case consentTitle = "consent.title"
  case consentTitleProgram = "consent.title_program"
  case consentHeading = "consent.heading"
  case consentNext = "consent.next"
  case consentApp = "consent.app"
  case consentAppWithoutName = "consent.app_without_name"
  case consentSelfNamedApp = "consent.self_named_app"
  case consentProgram = "consent.program"
  case consentSelfNamedProgram = "consent.self_named_program"
  case consentUnverified = "consent.unverified"
  case consentDescribedBy = "consent.described_by"
  case consentDescribedByNoProof = "consent.described_by_no_proof"
  case consentDestination = "consent.destination"
  case consentDestinationApp = "consent.destination_app"
  case consentDestinationProgram = "consent.destination_program"
  case consentResource = "consent.resource"
  case consentScopes = "consent.scopes"
  case consentScopeNone = "consent.scope_none"
  case consentScopeOther = "consent.scope_other"
  case consentWarning = "consent.warning"
  case consentOtherApps = "consent.other_apps"
  case consentDeny = "consent.deny"
  case consentAllow = "consent.allow"

  case formPostTitle = "form_post.title"
  case formPostText = "form_post.text"
  case formPostContinue = "form_post.continue"

  case openAppTitle = "open_app.title"
  case openAppHeading = "open_app.heading"
  case openAppText = "open_app.text"
  case openAppOpen = "open_app.open"

  case startAgainTitle = "start_again.title"
  case startAgainText = "start_again.text"
  case startAgainInApp = "start_again.in_app"
  case startAgainHere = "start_again.here"
  case startAgainLink = "start_again.link"

  case embeddedTitle = "embedded.title"
  case embeddedHeading = "embedded.heading"
  case embeddedText = "embedded.text"
  case embeddedCopy = "embedded.copy"
  case embeddedAddress = "embedded.address"
  case embeddedInApp = "embedded.in_app"
  case embeddedGuess = "embedded.guess"

  case deviceTitle = "device.title"
  case deviceText = "device.text"
  case deviceCaution = "device.caution"
  case deviceWrongCode = "device.wrong_code"
  case deviceCodeOfLink = "device.code_of_link"
  case deviceCompare = "device.compare"
  case deviceDeny = "device.deny"
  case deviceCode = "device.code"
  case deviceContinue = "device.continue"
  case deviceConfirmTitle = "device.confirm_title"
  case deviceConfirmHeading = "device.confirm_heading"
  case deviceConfirmText = "device.confirm_text"
  case deviceConfirmApp = "device.confirm_app"
  case deviceConfirmCode = "device.confirm_code"
  case deviceStarted = "device.started"
  case deviceStartedNow = "device.started_now"
  case deviceStartedMinute = "device.started_minute"
  case deviceStartedMinutes = "device.started_minutes"
  case deviceWarning = "device.warning"
  case deviceApprovedTitle = "device.approved_title"
  case deviceApproved = "device.approved"
  case deviceDeniedTitle = "device.denied_title"
  case deviceDenied = "device.denied"
  case deviceApprovedBeforeTitle = "device.approved_before_title"
  case deviceApprovedBefore = "device.approved_before"
  case deviceApprovedBeforeAdvice = "device.approved_before_advice"
  case deviceProblemTitle = "device.problem_title"
  case deviceProblemUnknownTitle = "device.problem_unknown_title"
  case deviceProblemOtherBrowser = "device.problem_other_browser"
  case deviceProblemEnded = "device.problem_ended"
  case deviceProblemAdvice = "device.problem_advice"

  case error403Title = "error.403.title"
  case error403Text = "error.403.text"
  case error403Advice = "error.403.advice"
  case error404Title = "error.404.title"
  case error404Text = "error.404.text"
  case error404Advice = "error.404.advice"
  case error405Title = "error.405.title"
  case error405Text = "error.405.text"
  case error405Advice = "error.405.advice"
  case error421Title = "error.421.title"
  case error421Text = "error.421.text"
  case error421Advice = "error.421.advice"
  case error429Title = "error.429.title"
  case error429Text = "error.429.text"
  case error429Advice = "error.429.advice"
  case error400Title = "error.400.title"
  case error400Text = "error.400.text"
  case error400Advice = "error.400.advice"
  case error502Title = "error.502.title"
  case error502Text = "error.502.text"
  case error502Advice = "error.502.advice"
  case error503Title = "error.503.title"
  case error503Text = "error.503.text"
  case error503Advice = "error.503.advice"
  case error504Title = "error.504.title"
  case error504Text = "error.504.text"
  case error504Advice = "error.504.advice"
  case error500Title = "error.500.title"
  case error500Text = "error.500.text"
  case error500Advice = "error.500.advice"

  case developerOfApp = "developer.of_app"
  case developerDetails = "developer.details"
  case developerStatus = "developer.status"
  case developerRule = "developer.rule"
  case developerExplained = "developer.explained"
  case developerExplanation = "developer.explanation"
  case developerStandard = "developer.standard"
  case developerRequest = "developer.request"
  case developerReference = "developer.reference"

  case rulesTitle = "rules.title"
  case rulesWhy = "rules.why"
  case rulesFix = "rules.fix"
  case rulesSource = "rules.source"
  case rulesAnswer = "rules.answer"
  case rulesAll = "rules.all"
  case rulesLanguage = "rules.language"
  case rulesRedirected = "rules.redirected"
  case rulesNeverRedirected = "rules.never_redirected"
}

extension PageText {
  /// The names of the placeholders that the text must contain, such as `app` for `{app}`.
  public var placeholders: [String] {
    switch self {
    case .appSelfNamed, .consentSelfNamedApp, .consentSelfNamedProgram:
      ["name"]
    case .consentTitle, .consentHeading, .formPostTitle, .openAppTitle, .openAppText, .deviceConfirmTitle,
      .deviceConfirmHeading, .deviceApproved, .deviceDenied:
      ["app"]
    case .consentDestinationApp:
      ["scheme"]
    case .consentScopeOther:
      ["scope"]
    case .consentDescribedByNoProof:
      ["host"]
    case .deviceStartedNow, .deviceStartedMinute:
      ["network"]
    case .deviceStartedMinutes:
      ["minutes", "network"]
    case .rulesRedirected, .rulesNeverRedirected:
      ["code", "status"]
    default: []
    }
  }
}
