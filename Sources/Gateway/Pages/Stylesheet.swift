import Markup
import Policy

/// The style sheet of all pages of the gateway. Each page contains it, so that a browser loads a page with one request.
///
/// In both color schemes, the contrast of text is at least 4.5 to 1, and that of controls at least 3 to 1 (WCAG 2.2,
/// success criteria 1.4.3 and 1.4.11).
enum Stylesheet {
  /// The CSS text. Its type is `HTML`, so that a page contains the text without escapes.
  static let source: HTML = """
    :root {
      color-scheme: light dark;
      --paper: #f6f5f2; --sheet: #fffefc; --ink: #1d1c1a; --soft: #5f5c56; --line: #dedbd4;
      --accent: #1f5a50; --on-accent: #ffffff; --accent-hover: #174740; --quiet: #f1efea; --note: #8a5a0b;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #121413; --sheet: #1a1d1c; --ink: #eceae5; --soft: #a6a39b; --line: #343836;
        --accent: #8fcdbe; --on-accent: #0c211c; --accent-hover: #a9dccf; --quiet: #212524; --note: #e6bd77;
      }
    }
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
    body {
      margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column;
      background: var(--sheet); color: var(--ink);
      font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
      overflow-wrap: break-word;
    }
    .sheet { width: 100%; padding: 2rem 1.5rem 2.5rem; }
    @media (min-width: 40rem) {
      body { background: var(--paper); padding: 4rem 1.5rem; }
      .sheet {
        max-width: 35rem; margin: auto; padding: 3rem 3.25rem;
        background: var(--sheet); border: 1px solid var(--line); border-radius: 1rem;
      }
    }
    p, ul, dl, dd, h1, h2 { margin: 0; }
    .brand {
      display: flex; flex-wrap: wrap; align-items: center; gap: .75rem;
      font-size: .9375rem; font-weight: 600; letter-spacing: .005em; color: var(--accent); margin-bottom: 2.25rem;
    }
    .brand img { display: block; max-width: 100%; max-height: 3rem; }
    h1 {
      font-size: 1.75rem; line-height: 1.22; font-weight: 650; letter-spacing: -.018em;
      margin-bottom: 1rem; text-wrap: balance;
    }
    h2 { font-size: .9375rem; line-height: 1.4; font-weight: 600; margin: 2rem 0 .5rem; }
    p + p, .copy + p { margin-top: .875rem; }
    .soft { color: var(--soft); }
    strong { font-weight: 600; }
    a { color: var(--accent); text-underline-offset: .2em; text-decoration-thickness: 1px; }
    a:hover { text-decoration-thickness: 2px; }
    code {
      font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
      overflow-wrap: anywhere;
    }
    .copied { -webkit-user-select: all; user-select: all; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .375rem; }
    .facts { border-top: 1px solid var(--line); margin-top: 1.75rem; }
    .facts > div { padding: .875rem 0; border-bottom: 1px solid var(--line); }
    dt { font-size: .875rem; color: var(--soft); }
    dd { margin: 0; }
    dd ul { margin: 0; padding: 0; list-style: none; }
    dd li + li { margin-top: .25rem; }
    .id { display: block; color: var(--soft); }
    .tag {
      display: inline-block; font-size: .8125rem; line-height: 1.5; font-weight: 600; color: var(--note);
      border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem; margin-inline-start: .375rem; vertical-align: .0625rem;
    }
    .note { border-inline-start: 3px solid var(--note); padding-inline-start: 1rem; margin-top: 1.5rem; }
    .actions { display: flex; flex-direction: column; gap: .75rem; margin-top: 2rem; }
    .button, button {
      display: block; width: 100%; min-height: 3.125rem; padding: .75rem 1.5rem; text-align: center;
      font: inherit; font-weight: 600; line-height: 1.5; text-decoration: none; cursor: pointer;
      color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .625rem;
      -webkit-appearance: none; appearance: none;
    }
    .button:hover, button:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
    @keyframes deliberate { from { pointer-events: none; opacity: .55; } }
    button.deliberate { animation: deliberate 1s step-end; }
    @media (hover: hover) { html:not(:hover) button.deliberate { animation: none; pointer-events: none; } }
    button.unseen { position: absolute; width: 1px; height: 1px; padding: 0; border: 0; overflow: hidden; clip-path: inset(50%); }
    button.second { color: var(--ink); background: transparent; border-color: var(--soft); }
    button.second:hover { background: var(--quiet); border-color: var(--ink); }
    .button:focus-visible, button:focus-visible { border-radius: .625rem; }
    @media (min-width: 40rem) {
      .actions { flex-direction: row; }
      .actions > * { flex: 1; }
    }
    .copy {
      display: block; margin-top: .875rem; padding: .875rem 1rem; background: var(--quiet); border: 1px solid var(--line);
      border-radius: .625rem; -webkit-user-select: all; user-select: all; max-height: 11rem; overflow: auto;
    }
    input.copy { width: 100%; font: inherit; color: inherit; }
    .facts + p, form > p { margin-top: .875rem; }
    .developer {
      margin-top: 2.5rem; padding: 1.25rem 1.375rem; background: var(--quiet); border: 1px solid var(--line);
      border-radius: .75rem; font-size: .9375rem;
    }
    .developer h2 { margin: 0 0 .75rem; }
    .developer dl { display: grid; gap: .625rem; margin-top: .875rem; }
    @media (min-width: 40rem) {
      .developer dl > div { display: grid; grid-template-columns: 6rem 1fr; gap: 1rem; align-items: baseline; }
    }
    footer { margin-top: 2.5rem; font-size: .9375rem; }
    @media (forced-colors: active) { .button, button { border: 2px solid; } }
    """

  /// Returns the rules for the operator's color; nothing without one. The text on the color is white in light mode and
  /// black in dark mode: the checks of the policy make sure that it can be read.
  static func colors(of branding: Branding) -> HTML? {
    guard let color = branding.color else { return nil }
    let dark = branding.darkColor ?? color.readableInDarkMode
    return """

      :root { --accent: \(color.text); --accent-hover: \(color.mixed(with: .black, percent: 20).text); }
      @media (prefers-color-scheme: dark) {
        :root {
          --accent: \(dark.text); --on-accent: #000000; --accent-hover: \(dark.mixed(with: .white, percent: 25).text);
        }
      }
      """
  }
}
