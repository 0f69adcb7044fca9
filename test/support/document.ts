import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** The first word behind the fence, such as `sh`; empty without one. */
  language: string;
  /** The words behind it, which readers do not see: `claude` in ```` ```sh claude ````. */
  words: readonly string[];
  text: string;
  /** The heading that it stands below. */
  heading: string;
  /** Where it begins, as `docs/start/tutorial.md:12`. */
  at: string;
}

const FENCE = /^```(\S*) *(.*)$/;

/** Reads the fenced blocks of a page, in order; `path` is relative to the project. */
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

/** What stands for anything in an output that a page shows. */
const ANYTHING = '…';

/**
 * The first line of an expected output that the real one lacks; null when all are there, in order. A `…` stands for
 * anything within its line, a line of nothing else for any number of lines, and so do lines between those expected.
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
