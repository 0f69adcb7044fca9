import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sentence } from '../../engine/core/base/sentence.ts';
import { sentence } from '../../engine/core/base/sentence.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BEGIN = 'sentence`';

/** Returns the texts between the values of the template that starts at `from`, after its backtick. */
function textsAt(source: string, from: number): string[] {
  const texts = [''];
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const here = source[at];
    if (depth > 0) depth += here === '{' ? 1 : here === '}' ? -1 : 0;
    else if (here === '`') return texts;
    else if (here === '$' && source[at + 1] === '{') {
      texts.push('');
      depth = 1;
      at += 1;
    } else if (here === '\\') {
      at += 1;
      texts.push(`${texts.pop()}${source[at]}`);
    } else texts.push(`${texts.pop()}${here}`);
  }
  throw new Error('a sentence does not end');
}

/** Returns every sentence in a source file, with a value like `t-7` in each gap. */
export function sentencesInSource(): { file: string; said: Sentence }[] {
  const files = ['engine', 'cli', 'tui'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return files
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('base/sentence.ts'))
    .flatMap((file) => {
      const source = readFileSync(join(ROOT, file), 'utf8');
      const said: Sentence[] = [];
      for (let at = source.indexOf(BEGIN); at >= 0; at = source.indexOf(BEGIN, at + 1)) {
        const texts = textsAt(source, at + BEGIN.length);
        said.push(sentence(texts as unknown as TemplateStringsArray, ...texts.slice(1).map(() => 't-7')));
      }
      return said.map((each) => ({ file, said: each }));
    });
}
