import { SvcError } from '../../../core/base/errors.ts';
import { type HostAddress, nameHost, quoteLastLines } from '../transport/address.ts';
import type { HostOptions } from '../transport/open-on-host.ts';
import { runOnHost } from '../transport/run-on-host.ts';
import { parseAnswer } from './answer.ts';
import { buildRemoveScript } from './scripts.ts';

/** Removes every installed version and nothing else. Rejects as `openOnHost`, and with `program_failed`. */
export async function removeProgram(address: HostAddress, options: HostOptions): Promise<void> {
  const result = await runOnHost(address, buildRemoveScript(), options);
  const { failed } = parseAnswer(address, result);
  if (failed === undefined && result.code === 0) return;
  const said = quoteLastLines(result.stderr) || 'its home is unknown';
  throw new SvcError('program_failed', `the program on ${nameHost(address)} could not be removed: ${said}`);
}
