import { toPrintable } from '../../engine/core/base/text.ts';
import type { CommandContext } from '../command.ts';
import { type DoctorCheck, reportPass, reportWarning } from './check.ts';

/** Checks the broker and the other machines of a running engine, a line each. */
export async function checkMachines(context: Pick<CommandContext, 'engine'>): Promise<DoctorCheck[]> {
  const client = await context.engine({ start: false });
  const runners = await client.call('runner.list', {});
  const { broker } = await client.call('fleet.status', {});
  const machines = runners.map(({ name, state, running, max, reason }) =>
    reason === null || state === 'full'
      ? reportPass('machine', `${name}: ${state}, ${running} of ${max} in use`)
      : reportWarning(
          'machine',
          `${name}: ${toPrintable(reason)}`,
          'docs/operate/fleet.md explains it; svc runner list shows the current state',
        ),
  );
  if (broker === null) return machines;
  const { problem, servers } = broker;
  const shown =
    problem === null
      ? reportPass('broker', `works, at ${servers.join(', ')}`)
      : reportWarning('broker', toPrintable(problem), '.svc/fleet/nats.log shows its own messages');
  return [shown, ...machines];
}
