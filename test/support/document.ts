import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** The first word after the fence, such as `sh`; may be empty. */
  language: string;
  /** The words after it, which readers do not see: `claude` in ```` ```sh claude ````. */
  words: readonly string[];
  text: string;
  /** The heading above the block. */
  heading: string;
  /** Location, such as `docs/start/tutorial.md:12`. */
  at: string;
}

const FENCE = /^```(\S*) *(.*)$/;

/** Returns the fenced blocks of a page in order; `path` is relative to the project. */
export function readBlocks(path: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: (Block & { lines: string[] }) | null = null;
  for (const [index, line] of readFileSync(join(PROJECT, path), 'utf8').split('\n').entries()) {
    if (open !== null) {
      if (line !== '```') {
        open.lines.push(line);
        continue;
      }
      const { lines, ...block } = open;
      blocks.push({ ...block, text: lines.map((each) => `${each}\n`).join('') });
      open = null;
      continue;
    }
    const [, language = '', rest = ''] = FENCE.exec(line) ?? [];
    if (line.startsWith('```'))
      open = {
        language,
        words: rest.split(' ').filter((word) => word !== ''),
        text: '',
        heading,
        at: `${path}:${index + 1}`,
        lines: [],
      };
    else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
  }
  if (open !== null) throw new Error(`${open.at}: the block has no end`);
  return blocks;
}

/** The wildcard in a page's sample output. */
const ANYTHING = '…';

/**
 * Returns the first line of the expected output that is missing from the real output; null if all lines occur in
 * order. Extra lines are allowed. `…` matches anything within a line; a line that consists of `…` matches any number
 * of lines.
 */
export function findMissingLine(expected: string, real: string): string | null {
  const lines = real.split('\n').map((line) => line.trimEnd());
  let at = 0;
  for (const line of expected.split('\n').map((each) => each.trimEnd())) {
    if (line === '' || line === ANYTHING) continue;
    const parts = line.split(ANYTHING).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const pattern = new RegExp(`^${parts.join('.*')}$`);
    const found = lines.findIndex((each, index) => index >= at && pattern.test(each));
    if (found === -1) return line;
    at = found + 1;
  }
  return null;
}
