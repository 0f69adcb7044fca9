import { type PrepareCommand, runShortCommand } from '../../workers/runner/processes/index.ts';
import { type DeliveryOutcome, failedOutcome, TOLD } from './outcome.ts';
import { shortenForArgument, type TemplateValues } from './values.ts';

const LIMIT_MS = 30_000;

/**
 * Runs the command of an entry. It is split into words before the placeholders are filled in, so that a message is never
 * more than part of one argument. It gets its own process group and no terminal; its output is discarded. Null when
 * `signal` ended it.
 */
export async function runNotifyCommand(
  command: string,
  values: TemplateValues,
  {
    words,
    fill,
    cwd,
    prepare,
    signal,
  }: {
    words(template: string): string[];
    fill(template: string, values: TemplateValues): string;
    cwd: string;
    /** Contains the command's processes, so that none outlives the attempt. */
    prepare: PrepareCommand;
    signal: AbortSignal;
  },
): Promise<DeliveryOutcome | null> {
  const safe = shortenForArgument(values);
  const filled = words(command).map((word) => fill(word, safe).replaceAll('\0', ''));
  const problem = await runShortCommand(filled, { cwd, prepare, limitMs: LIMIT_MS, signal });
  if (signal.aborted) return null;
  return problem === null ? TOLD : failedOutcome(problem);
}
