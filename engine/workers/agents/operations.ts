import { z } from 'zod';
import { by, operation } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { AgentCircuits } from './circuit.ts';

/** Operations on suspended agents. */
export function circuitOperations({
  circuits,
  look,
}: {
  circuits: AgentCircuits;
  /** The queue may continue. */
  look(): void;
}) {
  return [
    operation({
      name: 'agent.held',
      about: 'Agents that get no work because they failed repeatedly.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => circuits.listCircuits(),
    }),
    operation({
      name: 'agent.reset',
      about: 'Lets an agent take work again after repeated failures.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ agent: z.string() }),
      async run({ agent }, caller, call) {
        const done = await call.finish(() => {
          const was = circuits.findCircuit(agent);
          if (!circuits.resetCircuit(agent, by(caller)))
            throw new SvcError('conflict', `${agent} is not suspended`, {
              hint: sentence`{agent.held} lists the suspended agents`,
            });
          return { agent, was };
        });
        look();
        return done;
      },
    }),
  ];
}
