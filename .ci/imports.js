// Checks imports against the rules of `.dependency-cruiser.mjs`, and that no two neighbours import each other:
// `node .ci/imports.js [folder]`. Names each offender with its rule; exits 1.
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
const mutual = listMutualImports(modules);
for (const { from, to, folders } of mutual)
  console.error(`${from} → ${to}: no-mutual-imports (${folders.join(' and ')} import each other)`);
const offenders = summary.violations.length + mutual.length;
const ours = modules.filter(({ source }) => !/node_modules|^node:/.test(source)).length;
if (ours === 0) console.error(`no sources in ${root}`);
else console.log(`imports: ${ours} files, ${offenders} offenders`);
process.exitCode = offenders > 0 || ours === 0 ? 1 : 0;

/**
 * Lists imports between two neighbours (folders or loose files of one folder) that import each other, even through
 * different files: those of the direction with fewer imports.
 */
function listMutualImports(all) {
  /** The imports of each direction. */
  const directions = new Map();
  for (const { source: from, dependencies } of all)
    for (const to of new Set(dependencies.map(({ resolved }) => resolved))) {
      const folders = findNeighbours(from, to);
      if (folders === null) continue;
      const key = folders.join(' ');
      const known = directions.get(key);
      if (known === undefined) directions.set(key, { folders, imports: [{ from, to, folders }] });
      else known.imports.push({ from, to, folders });
    }
  return [...directions.values()].flatMap(({ folders: [one, other], imports }) => {
    const back = directions.get(`${other} ${one}`)?.imports ?? [];
    const isWeaker = imports.length < back.length || (imports.length === back.length && one < other);
    return isWeaker ? imports : [];
  });
}

/** Returns the neighbours that contain the two files, such as `engine/bus` and `engine/board`; null for other files. */
function findNeighbours(from, to) {
  const [one, other] = [from.split('/'), to.split('/')];
  const depth = one.findIndex((name, at) => name !== other[at]);
  if (depth < 1 || !['engine', 'cli', 'tui'].includes(one[0])) return null;
  return [one, other].map((path) => path.slice(0, depth + 1).join('/'));
}
