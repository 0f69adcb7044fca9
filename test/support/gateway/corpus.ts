import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One output in fixtures/context with the facts that must survive; content has none. */
export interface CorpusFile {
  name: string;
  text: string;
  facts: string[];
}

/** Returns the outputs of one part of fixtures/context, sorted by name. */
export function readCorpus(part: 'noise' | 'held-out' | 'content'): CorpusFile[] {
  const folder = join(import.meta.dirname, '..', '..', '..', '..', 'fixtures', 'context', part);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .map((file) => {
      const name = file.slice(0, -'.txt'.length);
      const beside = join(folder, `${name}.facts`);
      return {
        name,
        text: readFileSync(join(folder, file), 'utf8'),
        facts: existsSync(beside) ? readFileSync(beside, 'utf8').trimEnd().split('\n') : [],
      };
    });
}
