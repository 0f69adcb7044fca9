// Checks imports against the rules of `.dependency-cruiser.mjs`: `node .ci/imports.js [folder]`. Names each offender
// with its rule; exits 1.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import rules from '../.dependency-cruiser.mjs';

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..'));
const { forbidden, options } = rules;
const areas = ['engine', 'cli', 'tui', 'fixtures'].filter((name) => existsSync(join(root, name)));
const { output } = await cruise(areas, {
  ...options,
  baseDir: root,
  ruleSet: { forbidden },
  validate: true,
});
const { modules, summary } = output;
const comments = new Map(forbidden.map(({ name, comment }) => [name, comment]));
for (const { rule, from, to, cycle } of summary.violations) {
  const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(' → ');
  const why = comments.get(rule.name);
  console.error(`${from} → ${way}: ${rule.name}${why === undefined ? '' : ` (${why})`}`);
}
const ours = modules.filter(({ source }) => !/node_modules|^node:/.test(source)).length;
if (ours === 0) console.error(`no sources in ${root}`);
else console.log(`imports: ${ours} files, ${summary.violations.length} offenders`);
process.exitCode = summary.violations.length > 0 || ours === 0 ? 1 : 0;
