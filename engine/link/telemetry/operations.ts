import { z } from 'zod';
import { operation } from '../../core/api/operation.ts';
import type { LinkTelemetry } from './telemetry.ts';

/** Creates the operations of a person on the figures for a linked server. */
export function telemetryOperations(telemetry: LinkTelemetry) {
  return [
    operation({
      name: 'telemetry.show',
      about: 'The figures counted for the linked server: the next ones and the sent ones, byte for byte.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({}),
      run: () => telemetry.show(),
    }),
    operation({
      name: 'telemetry.agree',
      about:
        'Records that a person has seen what this schema sends; figures of a newer schema are not sent before.',
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
      about: 'Deletes the figures that the linked server has of this workspace.',
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
