import { hash } from 'node:crypto';

/** The one stylesheet; pages have no scripts and no inline styles. */
export const STYLE = `
:root { color-scheme: light dark; --line: #c8ccd4; --soft: #f3f4f6; --text: #16181d; --dim: #565c68; --back: #fff; --strong: #0b5cad; --on-strong: #fff; --bad: #a4161a; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3b414d; --soft: #1d2129; --text: #e8eaee; --dim: #a3aab8; --back: #12151b; --strong: #7cb7ff; --on-strong: #0b1420; --bad: #ff9a9e; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); overflow-wrap: anywhere; }
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; border-bottom: 1px solid var(--line); }
header .name { font-weight: 700; }
header .visitor { margin-left: auto; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
nav { flex-basis: 100%; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0; list-style: none; }
a { color: var(--strong); }
nav a, td a, .row a { display: inline-block; min-width: 1.5rem; min-height: 1.5rem; }
a[aria-current='page'] { font-weight: 700; text-decoration: none; }
h1 { font-size: 1.5rem; line-height: 1.2; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { min-width: 6rem; text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--dim); font-weight: 600; white-space: nowrap; }
time { overflow-wrap: normal; }
form { margin: 0.75rem 0; }
td form { margin: 0 0.5rem 0 0; display: inline-block; }
label { display: block; margin: 0.75rem 0 0.25rem; font-weight: 600; }
label + p.dim { margin: 0 0 0.25rem; }
legend + p.dim { margin: 0.25rem 0 0.5rem; }
.facts > :first-child { margin-top: 0; }
.facts > :last-child { margin-bottom: 0; }
input, select { display: block; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--dim); border-radius: 0.3rem; padding: 0.5rem; width: 100%; max-width: 24rem; }
input[type='checkbox'], input[type='radio'] { display: inline; width: auto; margin: 0 0.4rem 0 0; }
fieldset { border: 1px solid var(--line); border-radius: 0.3rem; margin: 1rem 0; padding: 0.5rem 1rem; }
legend { font-weight: 600; padding: 0 0.3rem; }
fieldset .below { margin-left: 1.6rem; }
.choice { font-weight: 400; margin: 0.3rem 0; padding: 0.2rem 0; }
pre { border: 1px solid var(--line); border-radius: 0.3rem; background: var(--soft); padding: 0.75rem 1rem; overflow-x: auto; white-space: pre-wrap; }
details { margin: 0.5rem 0; }
summary { cursor: pointer; padding: 0.4rem 0; }
.row { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 0.75rem 0; }
.row form { margin: 0; }
ul.plain { list-style: none; padding: 0; gap: 0.25rem 1rem; }
figure { margin: 1rem 0; }
figcaption { color: var(--dim); margin-top: 0.25rem; }
.chart { display: block; border-bottom: 1px solid var(--line); }
.chart .sealed { fill: var(--strong); }
.chart .failed { fill: var(--bad); }
.key { white-space: nowrap; margin-right: 0.75rem; }
.key::before { content: ''; display: inline-block; width: 0.75rem; height: 0.75rem; margin-right: 0.4rem; background: var(--strong); }
.key.failed::before { background: var(--bad); }
button { font: inherit; font-weight: 600; cursor: pointer; border: 1px solid var(--strong); border-radius: 0.3rem; padding: 0.5rem 1rem; background: var(--strong); color: var(--on-strong); margin-top: 0.75rem; min-height: 2.75rem; overflow-wrap: normal; }
td button, .row button { margin-top: 0; }
button.plain { background: transparent; color: var(--strong); }
button.bad { background: transparent; color: var(--bad); border-color: var(--bad); }
button.link { background: none; border: 0; border-radius: 0; padding: 0; margin: 0; min-height: 1.5rem; font-weight: 400; color: var(--strong); text-decoration: underline; }
header form { margin: 0; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
.said, .error, .facts { border: 1px solid var(--line); border-radius: 0.3rem; padding: 0.75rem 1rem; margin: 1rem 0; background: var(--soft); }
.error { border-color: var(--bad); }
.code { font: 700 1.5rem/1.4 ui-monospace, monospace; letter-spacing: 0.1em; }
.dim { color: var(--dim); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { color: var(--dim); }
dd { margin: 0; }
@media (min-width: 60rem) {
  td time, td button, .word { white-space: nowrap; }
}
@media (max-width: 40rem) {
  table, tbody, tr, td { display: block; }
  thead { position: absolute; clip-path: inset(50%); height: 1px; width: 1px; overflow: hidden; }
  td { min-width: 0; border: 0; padding: 0.1rem 0; }
  td[data-label] { position: relative; padding-left: 7.5rem; min-height: 1.7rem; }
  td[data-label]::before { content: attr(data-label); color: var(--dim); position: absolute; left: 0; width: 7rem; }
  td:not([data-label]) { padding-top: 0.4rem; }
  td[data-label]:empty { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd + dt { margin-top: 0.5rem; }
}
`;

/** Browsers cache it for an hour: a changed one has another address. */
export const STYLE_PATH = `/style.css?v=${hash('sha256', STYLE, 'hex').slice(0, 8)}`;
