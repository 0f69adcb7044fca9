import { toPrintable } from '../../../core/base/text.ts';
import { type HostAddress, nameHost, unreachableError } from '../transport/address.ts';
import type { HostOptions } from '../transport/open-on-host.ts';
import { runOnHost } from '../transport/run-on-host.ts';
import { buildInspectScript, type WantedAgent } from './inspect-script.ts';
import { type HostFacts, parseFacts } from './parse-facts.ts';

/** Two shells of 10 s each, programs of 10 s each, and all agents at once. */
const INSPECT_MS = 90_000;

/**
 * Inspects the host as the person's login shell there sees it; changes nothing. Rejects as `openOnHost`, and with
 * `runner_unreachable` for an answer that cannot be understood.
 */
export async function inspectHost(
  address: HostAddress,
  wanted: { agents: readonly WantedAgent[] },
  options: HostOptions,
): Promise<HostFacts> {
  const script = buildInspectScript(wanted.agents);
  const { stdout } = await runOnHost(address, script, { ...options, timeoutMs: INSPECT_MS });
  try {
    return parseFacts(stdout, wanted.agents);
  } catch (error) {
    const what = toPrintable((error as Error).message);
    throw unreachableError(
      address,
      `${nameHost(address)} does not describe itself as expected: it gives ${what}`,
      {
        cause: error,
      },
    );
  }
}
