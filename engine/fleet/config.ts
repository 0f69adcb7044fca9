import * as z from 'zod';

/** The name of a pool of machines. */
export const POOL_NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;

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
  pools: z
    .record(
      z.string().regex(POOL_NAME, 'a pool has letters, digits, . _ - and at most 63 characters'),
      z.strictObject({ start: z.string().default('') }),
    )
    .default({})
    .meta({
      consent: true,
      notation: 'map string->PoolEntry',
      description:
        'Per pool: start, a command that starts more machines once a session has waited for 30 seconds without a free slot. It gets SVC_POOL, SVC_WANTED (how many wait) and SVC_JOIN_FILE, a file with one line for svc runner join per session that waits, at most ten. One at a time, at most 60 seconds each.',
      unset: 'no machine is started',
      example: { gpu: { start: './start-gpu.sh' } },
    }),
  lost_after_sec: z.int().min(30).max(86_400).default(300).meta({
    description: 'How long a machine may be silent before that, in seconds.',
    notation: 'int',
    unset: '300',
    example: 300,
  }),
});
