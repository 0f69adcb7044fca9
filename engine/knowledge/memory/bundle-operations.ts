import { z } from 'zod';
import { by } from '../../core/api/operation.ts';
import { tool } from '../../core/api/tool.ts';
import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { Memories } from './index.ts';
import type { ImportResult } from './okf/concepts.ts';

const dir = z
  .string()
  .optional()
  .describe('Worker: below its worktree; otherwise memory.okf_dir by default.');
const MOST_EXPORTED = 1_000_000;
const MOST_SKIPPED = 200;

/** Creates the tools that export and import memories as markdown. */
export const bundleOperations = (memory: Memories) => [
  tool({
    name: 'memory.export',
    about: 'Write the memories as a folder of OKF 0.2 markdown, replacing an earlier export.',
    seat: 'any',
    changes: true,
    idempotent: true,
    input: z.strictObject({
      all: z.boolean().default(false).describe('Also expired and superseded ones.'),
      dir,
      limit: z.int().min(1).max(MOST_EXPORTED).default(MOST_EXPORTED),
    }),
    output: z.object({ dir: z.string(), memories: z.int() }),
    say: (done) => `${formatCount(done.memories, 'memory', 'memories')} in ${done.dir}`,
    run: (input, caller) => memory.exportBundle(input.dir, input, caller),
  }),
  tool({
    name: 'memory.import',
    about: 'Import a folder of OKF markdown. Returns each skipped file with its reason.',
    seat: 'any',
    changes: true,
    idempotent: true,
    input: z.strictObject({ dir }),
    output: z.object({
      dir: z.string(),
      added: z.int(),
      replaced: z.int(),
      unchanged: z.int(),
      skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
      more_skipped: z.int(),
      redacted: z.array(z.string()),
    }),
    say: sayImported,
    async run(input, caller, call) {
      const { store } = await memory.open();
      const { dir: folder, concepts, skipped } = await memory.readBundle(input.dir, caller);
      return call.finish(() => {
        const mayReplace = caller.seat === 'chair';
        const done = store.importConcepts(concepts, memory.importerOf(caller), mayReplace, by(caller));
        const all = [...skipped, ...done.skipped];
        return {
          ...done,
          dir: folder,
          skipped: all.slice(0, MOST_SKIPPED),
          more_skipped: Math.max(0, all.length - MOST_SKIPPED),
        };
      });
    },
  }),
];

interface ImportAnswer extends ImportResult {
  more_skipped: number;
}

function sayImported({ added, replaced, unchanged, skipped, more_skipped, redacted }: ImportAnswer): string {
  return [
    `added ${added}, replaced ${replaced}, unchanged ${unchanged}`,
    ...skipped.map(({ path, reason }) => `skipped ${toPrintable(path)}: ${toPrintable(reason)}`),
    ...(more_skipped === 0 ? [] : [`and ${formatCount(more_skipped, 'more file')} skipped`]),
    ...(redacted.length === 0 ? [] : [`left out: ${redacted.join(', ')}`]),
  ].join('\n');
}
