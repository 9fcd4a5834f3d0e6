import { html } from './markup.ts'

/** No font and no picture from elsewhere: a page is read where it was written, or years later. */
export const STYLES = html`
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --sheet: #ffffff; --ink: #1d2126; --soft: #5b646e; --rule: #e3e0da; --warn: #8a4b00; --warn-paper: #fff4e0;
  --c1: #2a62b8; --c2: #c2571a; --c3: #2f855a; --c4: #8b3fa8; --c5: #b58900; --c6: #0f8b9b; --c7: #b83263; --c8: #6b7280;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --sheet: #1b1f25; --ink: #e6e8ea; --soft: #9aa4af; --rule: #323840; --warn: #ffc36b; --warn-paper: #3a2c14;
    --c1: #6ea8ff; --c2: #ff9a5c; --c3: #62c795; --c4: #cf8cea; --c5: #e6c14d; --c6: #4fc6d6; --c7: #ff85ae; --c8: #a3acb8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif;
}
main { max-width: 1280px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 0 0 4px; }
h3 { font-size: 1rem; margin: 0 0 8px; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 75ch; }
a { color: var(--c1); }
.lead { color: var(--soft); }
section { margin-top: 40px; padding-top: 24px; border-top: 1px solid var(--rule); }
header + section { border-top: 0; padding-top: 0; margin-top: 20px; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 4px 32px; margin: 16px 0; font-size: .875rem; }
.facts div { display: flex; gap: 12px; border-bottom: 1px solid var(--rule); padding: 3px 0; }
.facts .long { grid-column: 1 / -1; }
.facts dt { color: var(--soft); flex: 0 0 6.5em; }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.caution { background: var(--warn-paper); color: var(--warn); padding: 8px 12px; border-left: 3px solid; border-radius: 3px; margin: 8px 0; max-width: none; font-size: .9rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); gap: 16px; align-items: start; margin: 20px 0; }
figure { margin: 0; background: var(--sheet); border: 1px solid var(--rule); border-radius: 6px; padding: 14px 16px; min-width: 0; }
figcaption { color: var(--soft); font-size: .8rem; margin-top: 8px; }
svg { display: block; width: 100%; height: auto; font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 0; margin: 0 0 8px; font-size: .85rem; }
.key, .swatch { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 6px; }
.key { background: var(--colour); }
.c1 { --colour: var(--c1); } .c2 { --colour: var(--c2); } .c3 { --colour: var(--c3); } .c4 { --colour: var(--c4); }
.c5 { --colour: var(--c5); } .c6 { --colour: var(--c6); } .c7 { --colour: var(--c7); } .c8 { --colour: var(--c8); }
.label, .value, .note { paint-order: stroke; stroke: var(--sheet); stroke-width: 4px; stroke-linejoin: round; }
.label, .value { fill: var(--ink); } .value { font-weight: 600; }
.tick, .note { fill: var(--soft); font-size: 12px; }
.grid { stroke: var(--rule); } .reference { stroke: var(--soft); stroke-dasharray: 3 3; }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.bar { fill: var(--colour); } .pale { opacity: .3; }
.dot { fill: var(--colour); fill-opacity: .75; }
.curve { fill: none; stroke: var(--colour); stroke-width: 2; stroke-linejoin: round; } .dashed { stroke-dasharray: 5 4; }
.scroll { overflow-x: auto; margin: 12px 0; width: max-content; max-width: calc(50vw + min(640px, 50vw) - 40px); }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 12px 5px 0; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
tbody th { color: var(--ink); font-weight: 400; }
caption { text-align: left; color: var(--soft); padding-bottom: 4px; }
.notes { font-size: .875rem; padding-left: 1.2em; max-width: 85ch; } .notes li { margin: 4px 0; }
details { margin: 12px 0; } summary { cursor: pointer; color: var(--soft); font-size: .875rem; }
.index { padding: 0; list-style: none; columns: 340px; column-gap: 32px; } .index > li { break-inside: avoid; margin-bottom: 10px; }
.index ul { padding: 0; margin: 0; list-style: none; color: var(--soft); font-size: .85rem; } .index strong { color: var(--ink); font-variant-numeric: tabular-nums; }
article { margin-top: 24px; }
.failed { color: var(--c7); }
@media (max-width: 520px) {
  main { padding: 16px 12px 40px; } h1 { font-size: 1.4rem; } figure { padding: 12px 10px; } svg { font-size: 15px; } .tick, .note { font-size: 14px; }
  tbody th { white-space: normal; min-width: 7em; } th, td { padding-right: 10px; }
}
@media print { figure, .caution { break-inside: avoid; } }
`
