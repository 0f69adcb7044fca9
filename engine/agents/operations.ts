import { z } from 'zod';
import { by, operation } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import type { Storage } from '../storage/index.ts';
import type { Circuits } from './circuit.ts';

/** What clients may ask about agents that are given no work. */
export function circuitOperations({
  storage,
  circuits,
  look,
}: {
  storage: Storage;
  circuits: Circuits;
  /** The queue may go on. */
  look(): void;
}) {
  return [
    operation({
      name: 'agent.held',
      about: 'Agents that are given no work, because they failed again and again for reasons of their own.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: () => circuits.listCircuits(),
    }),
    operation({
      name: 'agent.reset',
      about: 'Gives an agent work again.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ agent: z.string() }),
      async run({ agent }, caller) {
        const was = circuits.findCircuit(agent);
        const done = await storage.write(() => circuits.resetCircuit(agent, by(caller)));
        if (!done)
          throw new SvcError('conflict', `${agent} is not held back`, {
            hint: sentence`{agent.held} lists those that are`,
          });
        look();
        return { agent, was };
      },
    }),
  ];
}
