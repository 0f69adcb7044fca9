import { z } from 'zod';
import { cursor, takePage } from '../core/api/cursor.ts';
import { operation } from '../core/api/operation.ts';
import type { Sources } from './index.ts';

const repository = z.string().min(1).optional();

/** Operations on the repositories that are polled. */
export function sourceOperations(
  sources: Sources,
  { pollPullRequests }: { pollPullRequests(): Promise<void> },
) {
  return [
    operation({
      name: 'source.list',
      about: 'The repositories that are polled for work, when that was done last, and why it fails.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ limit: z.int().min(1).max(100_000).optional(), cursor }),
      run: (part) => takePage(sources.list(), part, ({ id }) => id),
    }),
    operation({
      name: 'source.poll',
      about: 'Poll the repositories now, all or one, and ask about the open pull requests of sessions.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ repository }),
      async run(input) {
        await pollPullRequests();
        return sources.poll(input.repository);
      },
    }),
    operation({
      name: 'source.test',
      about: 'Ask the code host what a poll would turn into tasks now. Creates nothing.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ repository }),
      run: (input) => sources.test(input.repository),
    }),
  ];
}
