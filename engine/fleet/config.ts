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
  on_lost: z.enum(['wait', 'retry', 'fail']).default('wait').meta({
    notation: 'string',
    description:
      'The fate of the runs of a machine that has been silent for lost_after_sec: with wait they wait for it, with an alert; with retry they start again on another machine of the pool, from their last saved work; with fail they end. With the last two the machine itself ends its runs in time when it cannot reach the engine.',
    unset: 'wait',
    example: 'retry',
  }),
  lost_after_sec: z.int().min(30).max(86_400).default(300).meta({
    description: 'How long a machine may be silent before that, in seconds.',
    notation: 'int',
    unset: '300',
    example: 300,
  }),
});
