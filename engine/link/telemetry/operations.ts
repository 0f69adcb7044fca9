import { z } from 'zod';
import { operation } from '../../core/api/operation.ts';
import type { Telemetry } from './telemetry.ts';

/** What the person may ask about what is counted for a linked server. */
export function telemetryOperations(telemetry: Telemetry) {
  return [
    operation({
      name: 'telemetry.show',
      about: 'What is counted for the linked server: what goes next and what went, byte for byte.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({}),
      run: () => telemetry.show(),
    }),
    operation({
      name: 'telemetry.agree',
      about: 'Says that a person has seen what this schema sends; nothing of a newer one goes before.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ schema: z.int().min(1) }),
      async run({ schema }) {
        await telemetry.agree(schema);
        return { schema };
      },
    }),
    operation({
      name: 'telemetry.delete',
      about: 'Deletes what the linked server has of this workspace.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({}),
      async run() {
        await telemetry.deleteSent();
        return { deleted: true };
      },
    }),
  ];
}
