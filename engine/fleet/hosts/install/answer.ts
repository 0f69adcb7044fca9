import { z } from 'zod';
import { toPrintable } from '../../../core/base/text.ts';
import { type HostAddress, nameHost, quoteLastLines, unreachableError } from '../transport/address.ts';
import type { HostResult } from '../transport/run-on-host.ts';

const yes = z.literal('yes').optional();
const shape = z.strictObject({
  folder: z
    .string()
    .regex(/^\/[^\0-\x1f\x7f]{1,4095}$/)
    .optional(),
  there: yes,
  tar: yes,
  gzip: yes,
  /** Empty if unknown. */
  freeKilobytes: z
    .string()
    .regex(/^\d{0,12}$/)
    .optional(),
  placed: z.enum(['new', 'other']).optional(),
  failed: z.enum(['home', 'copy', 'node', 'program', 'packages', 'rename', 'remove']).optional(),
});

/** The lines of a script of an installation. */
export type InstallAnswer = z.infer<typeof shape>;

const MOST_LINES = 20;

/** Parses an answer. Throws `runner_unreachable` for anything that the scripts would not print. */
export function parseAnswer(address: HostAddress, { stdout, stderr }: HostResult): InstallAnswer {
  const lines = stdout.split('\n').filter((line) => line !== '');
  const pairs = lines.map((line) => line.split('\t'));
  const isWellFormed = lines.length <= MOST_LINES && pairs.every((pair) => pair.length === 2);
  const keys = new Set(pairs.map(([key]) => key));
  const parsed = shape.safeParse(
    isWellFormed && keys.size === pairs.length ? Object.fromEntries(pairs) : null,
  );
  if (parsed.success) return parsed.data;
  const said = quoteLastLines(stderr);
  const shown = toPrintable(stdout.trim().slice(0, 100));
  throw unreachableError(
    address,
    `${nameHost(address)} answered "${shown}" instead of the state of its folder${said === '' ? '' : `: ${said}`}`,
  );
}

/** Returns the free bytes of an answer; null if unknown. */
export const readFreeBytes = ({ freeKilobytes = '' }: InstallAnswer): number | null =>
  freeKilobytes === '' ? null : Number(freeKilobytes) * 1024;
