import Policy
import YAML

extension Branding: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<Branding>(
    table,
    [
      "support_url": { if let url = $0.supportURL($1) { $2.supportURL = url } },
      "logo": { $2.logo = $0.logo($1) },
      "color": { $2.color = $0.color($1, on: .lightBackground, advice: "use a darker color") },
      "dark_color": { $2.darkColor = $0.color($1, on: .darkBackground, advice: "use a lighter color") },
      "texts": { $2.texts = $0.pageTexts($1) },
      "default_language": { if let tag = $0.text($1) { $2.defaultLanguage = tag } },
    ])
}

extension PolicyReader {
  /// Reads `branding:`.
  func branding(_ field: Field) -> Branding {
    var branding = Branding()
    guard let fields = read(field.node, Branding.section, into: &branding) else { return branding }
    let languages = PageText.builtInLanguages + branding.texts.map(\.language)
    let isKnown = languages.contains { $0.lowercased() == branding.defaultLanguage.lowercased() }
    if let language = fields["default_language"], !isKnown {
      error(
        .invalidValue, language.node,
        "`default_language` cannot be \(quoted(branding.defaultLanguage)), for which there are no texts; use "
          + "\(oneOf(languages)), or name its file in `texts`")
    }
    if let dark = fields["dark_color"], fields["color"] == nil {
      error(.conflict, dark.node, "`dark_color` has no effect without `color`; add `color` or remove it")
    }
    return branding
  }

  fileprivate func supportURL(_ field: Field) -> String? {
    guard let text = text(field) else { return nil }
    let isPath = text.hasPrefix("/") && !text.hasPrefix("//")
    let isURL = text.hasPrefix("https://") && text.utf8.count > 8
    guard isPath || isURL, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }) else {
      error(
        .invalidValue, field.node,
        "`support_url` cannot be \(quoted(text)); use an https URL or a path that begins with one `/`")
      return nil
    }
    return text
  }

  // MARK: Colors

  fileprivate func color(_ field: Field, on background: PageColor, advice: String) -> PageColor? {
    guard let text = text(field) else { return nil }
    guard let color = PageColor(parsing: text) else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted(text)); use `#` and six hexadecimal digits, in quotes, such as `\"#1f5a50\"`"
      )
      return nil
    }
    let contrast = color.contrast(to: background)
    guard contrast >= PageColor.minimumContrast else {
      let ratio = "\(contrast / 100).\(contrast / 10 % 10)"
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be `\(color.text)`: its contrast to the page is \(ratio), and users need 4.5 to read "
          + "text (WCAG 2.2, criterion 1.4.3); \(advice)")
      return nil
    }
    return color
  }

  // MARK: Logo

  fileprivate func logo(_ field: Field) -> Branding.Logo? {
    guard let path = path(field) else { return nil }
    contentFiles.append(path)
    let content: [UInt8]
    do {
      content = try FileSystem.read(path, limit: Branding.Logo.maximumSize)
    } catch {
      self.error(.unreadableFile, field.node, "logo \(quoted(path)) \(error.text); \(error.advice)")
      return nil
    }
    if content.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
      return Branding.Logo(type: "image/png", content: content)
    }
    switch SVGText.problem(of: content) {
    case nil: return Branding.Logo(type: "image/svg+xml", content: content)
    case .notSVG?:
      error(.invalidValue, field.node, "logo \(quoted(path)) is neither PNG nor SVG; convert it")
    case .active(let part)?:
      error(.invalidValue, field.node, "logo \(quoted(path)) contains `\(part)`; use a drawing without it")
    }
    return nil
  }

  // MARK: Texts

  /// Reads the files with the texts of the pages.
  fileprivate func pageTexts(_ field: Field) -> [PageTexts] {
    var read: [PageTexts] = []
    for item in list(field, allowsSingleValue: true) {
      guard let pattern = text(item) else { continue }
      for path in paths(matching: pattern, item) {
        let name = path.dropFirst(FileSystem.directory(of: path).count)
        let language = String(name.prefix { $0 != "." })
        guard PageText.isLanguageTag(language) else {
          error(
            .invalidValue, item.node,
            "the file \(quoted(path)) does not have the name of a language, such as `fr.json` or `pt-BR.json`; rename it"
          )
          continue
        }
        guard !read.contains(where: { $0.language.lowercased() == language.lowercased() }) else {
          error(.duplicateValue, item.node, "`texts` has several files for `\(language)`; keep one")
          continue
        }
        guard read.count < Self.maximumLanguages else {
          error(.invalidValue, item.node, "`texts` has more than \(Self.maximumLanguages) files; remove some")
          return read
        }
        guard let document = document(path, namedBy: item.node) else { continue }
        if let texts = texts(document.root, language) { read.append(texts) }
        document.freeAll()
      }
    }
    return read
  }

  /// The greatest number of files with texts.
  private static let maximumLanguages = 100

  private func texts(_ root: YAMLNode, _ language: String) -> PageTexts? {
    guard root.kind == .mapping else {
      error(.wrongType, root, "a file with texts must be a mapping of keys to texts, not \(withArticle(root.kind))")
      return nil
    }
    guard root.count <= PageText.maximumCount else {
      error(.invalidValue, root, "the file has \(root.count) texts; it may have \(PageText.maximumCount)")
      return nil
    }
    var texts: [String: String] = [:]
    for entry in root.entries {
      guard let key = entry.key.text else { continue }
      guard let text = entry.value.text else {
        error(.wrongType, entry.value, "\(quoted(key)) must be text, not \(withArticle(entry.value.kind))")
        continue
      }
      if let problem = PageText.problem(of: text, key: key) {
        let isUnknown = problem == .unknownKey
        error(isUnknown ? .unknownKey : .invalidValue, isUnknown ? entry.key : entry.value, words(for: problem, key))
      }
      texts[key] = text
    }
    let isBuiltIn = PageText.builtInLanguages.contains { $0.lowercased() == language.lowercased() }
    let missing = isBuiltIn ? [] : PageText.allCases.filter { texts[$0.rawValue] == nil }
    if let first = missing.first {
      let others = missing.count == 1 ? "" : " and \(missing.count - 1) others"
      error(
        .missingKey, root,
        "the texts for `\(language)` have no `\(first.rawValue)`\(others); translate them, because "
          + "the program does not contain this language")
    }
    return PageTexts(language: language, texts: texts)
  }

  /// Returns the message for a problem of a text.
  private func words(for problem: PageText.Problem, _ key: String) -> String {
    switch problem {
    case .unknownKey:
      let known = PageText.allCases.map(\.rawValue)
      let advice = EditDistance.nearest(to: key, among: known).map { "did you mean `\($0)`?" } ?? "remove it"
      return "no page has a text \(quoted(key)); \(advice)"
    case .empty: return "the text \(quoted(key)) is empty; write it, or remove the key"
    case .tooLong: return "the text \(quoted(key)) is longer than \(PageText.maximumLength) bytes; write it shorter"
    case .invisibleCharacter: return "the text \(quoted(key)) has an invisible character or a line end; remove it"
    case .missingPlaceholder(let name): return "the text \(quoted(key)) must contain `{\(name)}` once; add it"
    case .unquotedName:
      return "the text \(quoted(key)) must have quotation marks around `{name}`, "
        + "which is a name that the app chose; add them"
    case .unknownPlaceholder:
      let known = PageText(rawValue: key)?.placeholders.map { "`{\($0)}`" }.joined(separator: " and ") ?? ""
      return "the text \(quoted(key)) has a brace; "
        + (known.isEmpty ? "it has no placeholders" : "only \(known) may occur")
    }
  }
}
