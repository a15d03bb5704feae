import Markup

/// The style sheet of the status page.
///
/// In both color schemes, the contrast of text is at least 4.5 to 1, and that of the parts of charts at least 3 to 1 (WCAG
/// 2.2, success criteria 1.4.3 and 1.4.11).
enum StatusStylesheet {
  /// The CSS text. Its type is `HTML`, so that the page contains the text without escapes.
  static let source: HTML = """
    :root {
      color-scheme: light dark;
      --paper: #f5f4f0; --card: #fffefc; --ink: #1d1c1a; --soft: #5f5c56; --line: #e2dfd8; --quiet: #efede8;
      --good: #1f5a50; --warn: #8a5a0b; --bad: #a8261d; --good-wash: #e3efeb; --warn-wash: #f8ecd4; --bad-wash: #fae4e1;
      --passed: #3d8b7d; --would: #d08a1d; --refused: #cc4237; --unjudged: #8c8981;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #121413; --card: #1a1d1c; --ink: #eceae5; --soft: #a9a69e; --line: #303432; --quiet: #232726;
        --good: #8fcdbe; --warn: #e6bd77; --bad: #f4a59d; --good-wash: #1b302b; --warn-wash: #352a16; --bad-wash: #3b201d;
        --passed: #57ab9b; --would: #dba040; --refused: #e5685c; --unjudged: #85827b;
      }
    }
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
    body {
      margin: 0 auto; max-width: 76rem; padding: 1.25rem 1rem 2.5rem; background: var(--paper); color: var(--ink);
      font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
      overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
    }
    h1, h2, p, ul, ol, dl, dd, table { margin: 0; padding: 0; }
    ul, ol { list-style: none; }
    a { color: var(--good); text-underline-offset: .2em; text-decoration-thickness: 1px; }
    a:hover { text-decoration-thickness: 2px; }
    code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
    small { font-size: .8125rem; color: var(--soft); font-weight: 400; }
    strong { font-weight: 600; }
    :focus-visible { outline: 3px solid var(--good); outline-offset: 2px; border-radius: .25rem; }
    .soft { color: var(--soft); }
    .good { color: var(--good); }
    .warn { color: var(--warn); }
    .bad { color: var(--bad); }
    header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: .25rem 1rem; }
    .mark { display: flex; align-items: center; gap: .5rem; font-weight: 650; letter-spacing: -.01em; color: var(--good); }
    .mark svg { width: 1.5rem; height: 1.5rem; fill: var(--good); }
    .mark .check { fill: none; stroke: var(--card); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
    #live { font-size: .875rem; color: var(--soft); }
    #live.on::before {
      content: ""; display: inline-block; width: .5rem; height: .5rem; margin-inline-end: .5rem; border-radius: 50%;
      background: var(--passed); vertical-align: .0625rem;
    }
    #live.lost { color: var(--bad); font-weight: 600; }
    .lead { margin: 1.75rem 0 1.5rem; }
    h1 { font-size: 1.375rem; line-height: 1.2; font-weight: 650; letter-spacing: -.018em; margin-bottom: .625rem; }
    h2 { font-size: 1.0625rem; line-height: 1.35; font-weight: 650; letter-spacing: -.008em; }
    .pill {
      display: inline-block; padding: .0625rem .625rem; border-radius: 1rem; font-size: .8125rem; font-weight: 600;
      line-height: 1.5; white-space: nowrap; background: var(--quiet); color: var(--ink);
    }
    .pill.good { background: var(--good-wash); color: var(--good); }
    .pill.warn { background: var(--warn-wash); color: var(--warn); }
    .pill.bad { background: var(--bad-wash); color: var(--bad); }
    .lead .pill { font-size: .9375rem; margin-inline-end: .375rem; }
    .note { border-radius: .75rem; padding: 1rem 1.25rem; margin-bottom: 1rem; color: var(--ink); }
    .note.bad { background: var(--bad-wash); }
    .note.warn { background: var(--warn-wash); }
    .note h2 { margin-bottom: .25rem; }
    .note.bad h2 { color: var(--bad); }
    .note.warn h2 { color: var(--warn); }
    .note ul { margin-top: .5rem; }
    .note li + li { margin-top: .25rem; }
    .tiles { display: grid; grid-template-columns: repeat(2, 1fr); gap: .75rem; margin-bottom: 1rem; }
    .tiles > div { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: .875rem 1rem; }
    .tiles > div:last-child:nth-child(odd) { grid-column: 1 / -1; }
    .tiles dt, .tiles dd { font-size: .8125rem; color: var(--soft); }
    .tiles .figure { font-size: 1.625rem; line-height: 1.3; font-weight: 650; letter-spacing: -.02em; color: var(--ink); }
    .tiles .good { color: var(--good); }
    .tiles .warn { color: var(--warn); }
    .tiles .bad { color: var(--bad); }
    .card {
      background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.125rem 1rem 1.25rem;
      margin-bottom: 1rem;
    }
    .card > h2 { margin-bottom: .375rem; }
    .card > .soft { font-size: .875rem; }
    .columns > .card { break-inside: avoid; }
    .legend { display: flex; flex-wrap: wrap; gap: .125rem 1.25rem; font-size: .875rem; color: var(--soft); }
    .legend strong { color: var(--ink); }
    .key { display: inline-block; width: .625rem; height: .625rem; border-radius: .125rem; margin-inline-end: .4375rem; }
    .key.passed { background: var(--passed); }
    .key.refused { background: var(--refused); }
    .key.would { background: var(--would); }
    .key.unjudged { background: var(--unjudged); }
    .passed { fill: var(--passed); }
    .refused { fill: var(--refused); }
    .would { fill: var(--would); }
    .unjudged { fill: var(--unjudged); }
    .plot { position: relative; margin-top: 1.25rem; padding-inline-end: 3.5rem; }
    .plot + .soft { margin-top: .75rem; }
    .chart { display: block; width: 100%; height: 10rem; }
    .grid { fill: none; stroke: var(--line); stroke-width: 1px; vector-effect: non-scaling-stroke; }
    .scale {
      position: absolute; top: 0; left: calc(100% - 3rem); transform: translateY(-50%); font-size: .75rem; color: var(--soft);
      white-space: nowrap;
    }
    .scale.half { top: 5rem; }
    .axis { display: flex; justify-content: space-between; font-size: .75rem; color: var(--soft); margin-top: .375rem; }
    details > summary { cursor: pointer; }
    .card > details { margin-top: .75rem; }
    .card > details > summary, dd > details > summary { font-size: .875rem; color: var(--soft); }
    .scroll { overflow-x: auto; margin-top: .5rem; }
    table { width: 100%; border-collapse: collapse; font-size: .9375rem; margin-top: .5rem; }
    .scroll table { min-width: 34rem; margin-bottom: 1rem; font-size: .875rem; }
    th { text-align: start; font-weight: 500; overflow-wrap: break-word; hyphens: auto; }
    thead th { font-size: .8125rem; color: var(--soft); padding: .25rem 0 .375rem; vertical-align: bottom; }
    tbody th, td { padding: .5rem 0; border-top: 1px solid var(--line); vertical-align: top; }
    .scroll tbody th, .scroll td { padding: .25rem 0; }
    th small { display: block; }
    .number { text-align: end; white-space: nowrap; padding-inline-start: .75rem; }
    .bars { margin-top: .625rem; }
    .bars li { display: grid; grid-template-columns: 1fr auto; gap: 0 .75rem; padding: .4375rem 0; }
    .bars .bar, .bars small { grid-column: 1 / -1; }
    .bar { display: block; width: 100%; height: .375rem; background: var(--quiet); border-radius: .1875rem; margin: .25rem 0; }
    .histogram { display: block; width: 100%; max-width: 16rem; height: 1.5rem; margin-top: .25rem; }
    .facts { margin-top: .25rem; }
    .facts > div { display: grid; grid-template-columns: 9rem 1fr; gap: 0 .75rem; padding: .4375rem 0; }
    .facts > div + div { border-top: 1px solid var(--line); }
    .facts dt { color: var(--soft); font-size: .9375rem; }
    .facts dd { font-size: .9375rem; }
    .state { display: flex; gap: .5rem; align-items: baseline; }
    .dot { flex: none; width: .5rem; height: .5rem; border-radius: 50%; transform: translateY(-.0625rem); }
    .dot.good { background: var(--passed); }
    .dot.bad { background: var(--refused); }
    .plain { font-size: .875rem; margin-top: .375rem; }
    .certificates li { padding: .5rem 0; display: flex; flex-wrap: wrap; gap: 0 .625rem; align-items: baseline; }
    .certificates li + li { border-top: 1px solid var(--line); }
    .certificates li > small:last-child { flex-basis: 100%; }
    .group > summary { padding: .25rem 0; }
    .group > p { font-size: .875rem; margin: .25rem 0; }
    .client { border-top: 1px solid var(--line); padding: .5625rem 0; font-size: .9375rem; }
    .client > summary, .client.plain { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; }
    .client > summary::before { content: "+"; width: .75rem; color: var(--soft); font-weight: 600; }
    .client[open] > summary::before { content: "\\2212"; }
    .client > summary::-webkit-details-marker { display: none; }
    .client > summary > code, .client.plain > code { flex: 1 1 auto; }
    .client.plain { padding-inline-start: 1.75rem; }
    .counts > * + *::before { content: "·"; padding-inline: .375rem; color: var(--soft); font-weight: 400; }
    .counts { color: var(--soft); font-size: .875rem; }
    .client > summary > .counts { padding-inline-start: 1.75rem; }
    .client > p { font-size: .875rem; margin: .5rem 0 0 1.75rem; color: var(--soft); }
    .rules { margin: .5rem 0 .25rem 1.75rem; border-inline-start: 2px solid var(--line); padding-inline-start: .875rem; }
    .rules > div + div { margin-top: .75rem; }
    .rules dd { font-size: .875rem; color: var(--soft); }
    footer { font-size: .875rem; margin-top: .5rem; }
    footer ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
    @media (min-width: 40rem) {
      body { padding: 1.75rem 1.75rem 3rem; }
      .tiles { grid-template-columns: repeat(5, 1fr); }
      .tiles > div:last-child:nth-child(odd) { grid-column: auto; }
      .facts > div { grid-template-columns: 9.5rem 1fr; }
      .client > summary > .counts { padding: 0; }
      .card { padding: 1.375rem 1.5rem 1.5rem; }
      .chart { height: 12rem; }
      .scale.half { top: 6rem; }
      h1 { font-size: 2rem; }
    }
    @media (min-width: 64rem) {
      .columns { columns: 2; column-gap: 1rem; }
    }

    """
}
