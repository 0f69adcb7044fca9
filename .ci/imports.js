// Checks who imports whom: `node .ci/imports.js [folder]`. Names file, line and rule of each offender; exits 1.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..'));
const AREAS = ['engine', 'cli', 'tui', 'fixtures'];

/** The engine's only door for the faces. */
const DOOR = 'engine/index.ts';

/** One that is as small as can be, for what runs at every tool call of every agent. */
const SIDE_DOOR = { from: /^cli\/hooks\//, to: 'engine/daemon/one-call.ts' };

/** What every room may use; the rest of another room reaches it as a constructor argument. */
const SHARED = [
  ...[
    'errors',
    'clock',
    'hints',
    'ids',
    'text',
    'operation',
    'tool',
    'version',
    'shown-address',
    'guard-profile',
    'outcome',
    'absent',
    'session-names',
  ],
  // what is ours on this machine: asked by every command, so these load no package
  ...['account', 'data-folder', 'machine-home', 'owner', 'private-files', 'seat-folder'],
].map((name) => `engine/${name}.ts`);

/** Files that put the rooms together and so may import any of them. */
const COMPOSERS = [
  'engine/compose.ts',
  'engine/rooms.ts',
  'engine/index.ts',
  'engine/log.ts',
  'engine/health.ts',
];

/** Packages of the faces. */
const FACES = /^(?:ink|react|meow)(?:$|[/-])/;

/** Value imports from one room into another that are allowed, each for a reason. */
const EXCEPTIONS = [
  {
    from: /^engine\/.+\/config\.ts$/,
    to: /^engine\/(?:config\/(?:duration|address|variable)|workers\/presets\/index)\.ts$/,
    why: 'the schema of a section uses the value types of all sections and the built-in presets',
  },
  {
    from: /^engine\/config\//,
    to: /^engine\/(?:.+\/config|workers\/presets\/index|notify\/events)\.ts$/,
    why: 'the whole configuration is put together from the sections of the rooms',
  },
  {
    from: /^engine\/(?:config|workers\/setup)\//,
    to: /^engine\/access\/consents\.ts$/,
    why: 'what a person has agreed to is one file, read where the configuration is loaded and where set-ups run',
  },
  {
    from: /^engine\/daemon\/(?:client|one-call|where)\.ts$/,
    to: /^engine\/config\//,
    why: 'a client has to find its workspace before it can ask an engine',
  },
  {
    from: /^engine\/daemon\/launch\.ts$/,
    to: /^engine\/workers\/processes\/own\.ts$/,
    why: 'a client that belongs to a run starts no engine, and there is none to be asked whether it does',
  },
  {
    from: /^engine\/daemon\//,
    to: /^engine\/access\/seats\.ts$/,
    why: 'the host decides the seat of each connection',
  },
];

/** The scripted agent of tests speaks its protocol by the library that real ones use. */
const isSpoken = (from, specifier) =>
  from.startsWith('fixtures/acp/') &&
  /^@(?:agentclientprotocol|modelcontextprotocol)\/sdk(?:\/|$)/.test(specifier);

const STATIC = /^[ \t]*(import|export)\b([^;'"`]*?)(?:\bfrom\s*)?(['"])([^'"\n]+)\3/gm;
const DYNAMIC = /(\btypeof\s+)?\bimport\(\s*(['"])([^'"\n]+)\2\s*\)/g;

/** Comments as blanks, so that offsets stay. A `//` inside a string is not one, nor is the end of a glob. */
const withoutComments = (text) =>
  text.replace(/(?<=^|[\s{(,;])\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g, (comment) =>
    comment.replace(/[^\n]/g, ' '),
  );

/** Whether nothing of the import is left at run time. */
function isTypeOnly(clause) {
  if (/^\s*type\b(?!\s*(?:,|from\b|$))/.test(clause)) return true;
  const named = /^\s*\{([^}]*)\}\s*$/.exec(clause);
  if (named === null) return false;
  const specifiers = named[1].split(',').filter((each) => each.trim() !== '');
  return specifiers.length > 0 && specifiers.every((each) => /^\s*type\s+\S/.test(each));
}

/** Every import of a file: `{specifier, line, type, dynamic}`. */
function importsOf(text) {
  const code = withoutComments(text);
  const lineOf = (index) => code.slice(0, index).split('\n').length;
  const found = [];
  for (const match of code.matchAll(STATIC)) {
    const [whole, , clause, , specifier] = match;
    // `export const a = 'b'` is no import; `import 'b'` has no clause.
    if (!/\bfrom\s*['"]/.test(whole) && !/^[ \t]*import\s*['"]/.test(whole)) continue;
    const line = lineOf(match.index + whole.search(/\S/));
    found.push({ specifier, line, type: isTypeOnly(clause), dynamic: false });
  }
  for (const match of code.matchAll(DYNAMIC)) {
    found.push({
      specifier: match[3],
      line: lineOf(match.index),
      type: match[1] !== undefined,
      dynamic: true,
    });
  }
  return found.sort((one, other) => one.line - other.line);
}

const area = (path) => path.split('/')[0];
/** The top-level folder of the engine that a file is in, or null for a file beside them. */
const room = (path) => (/^engine\/[^/]+\//.test(path) ? path.split('/')[1] : null);

/** The rule that an import breaks, or null. `target` is null for a package. */
function broken(from, { specifier, type, dynamic }, target) {
  const face = area(from);
  if (target === null) {
    if (face === 'engine' && FACES.test(specifier)) return `engine/ never imports ${specifier}`;
    if (face === 'fixtures' && !type && !specifier.startsWith('node:') && !isSpoken(from, specifier)) {
      return 'fixtures import packages for their types only';
    }
    return null;
  }
  const to = area(target);
  if (to === 'test') return 'nothing outside test/ imports test/';
  if (to === 'fixtures' && face !== 'fixtures') return 'nothing outside test/ imports fixtures/';
  if (face === 'cli' || face === 'tui') {
    const isSideDoor = SIDE_DOOR.from.test(from) && target === SIDE_DOOR.to;
    if (to === 'engine' && target !== DOOR && !isSideDoor) return `${face}/ imports ${DOOR} only`;
    if (face === 'tui' && to === 'cli') return 'tui/ never imports cli/';
    if (face === 'cli' && to === 'tui' && !dynamic && !type)
      return 'cli/ loads tui/ by a dynamic import only';
    return null;
  }
  if (face === 'fixtures') {
    return to === 'fixtures' || type ? null : 'fixtures import nothing of the program';
  }
  if (to === 'cli' || to === 'tui') return `engine/ never imports ${to}/`;
  if (type || to !== 'engine' || COMPOSERS.includes(from) || SHARED.includes(target)) return null;
  if (room(from) !== null && room(from) === room(target)) return null;
  if (EXCEPTIONS.some((each) => each.from.test(from) && each.to.test(target))) return null;
  if (room(target) === null) return `only ${SHARED.map((each) => each.slice(7, -3)).join(', ')} are shared`;
  return room(from) === null
    ? `only ${COMPOSERS.map((each) => each.slice(7)).join(', ')} import rooms`
    : `room ${room(from)} takes values of room ${room(target)} as constructor arguments (types are free)`;
}

function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(?:m|c)?(?:ts|tsx|js|jsx)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.includes('node_modules/'))
    .sort();
}

const offenders = [];
let files = 0;
for (const path of AREAS.flatMap((name) =>
  existsSync(join(ROOT, name)) ? sourcesIn(join(ROOT, name)) : [],
)) {
  files += 1;
  for (const found of importsOf(readFileSync(join(ROOT, path), 'utf8'))) {
    const isRelative = found.specifier.startsWith('.');
    const target = isRelative ? posix.join(posix.dirname(path), found.specifier) : null;
    const rule = broken(path, found, target);
    if (rule !== null) offenders.push(`${path}:${found.line}: imports ${target ?? found.specifier}: ${rule}`);
  }
}
for (const offender of offenders) console.error(offender);
if (files === 0) console.error(`no sources in ${ROOT}`);
else console.log(`imports: ${files} files, ${offenders.length} offenders`);
process.exitCode = offenders.length > 0 || files === 0 ? 1 : 0;
