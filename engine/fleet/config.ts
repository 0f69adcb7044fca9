import * as z from 'zod';

/** The `fleet` section: other machines that run workers. */
export const fleetSchema = z.strictObject({
  pool: z.string().default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Pool of machines that runs go to if neither the request nor the project names one; see docs/operate/fleet.md.',
    unset: 'runs stay on this machine',
    example: 'gpu',
  }),
});
