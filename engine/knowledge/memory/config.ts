import * as z from 'zod';

/** The `memory` section. */
export const memorySchema = z.strictObject({
  enabled: z.boolean().optional().meta({
    notation: '*bool',
    description: 'Keeps durable memory.',
    unset: 'true',
  }),
  brief_on_dispatch: z.boolean().optional().meta({
    notation: '*bool',
    description: 'Writes .svc/MEMORY_BRIEF.md for the worker at each dispatch.',
    unset: 'true',
  }),
  brief_limit: z.int().min(0).default(8).meta({
    notation: 'int',
    description: 'Maximum number of memories in the brief.',
    unset: '8',
  }),
  retention_days: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]*$/, 'expected a lower-case memory type'), z.int().min(0))
    .default({})
    .meta({
      notation: 'map string->int',
      nil: true,
      description: 'Days after which a memory expires, per type.',
      unset: '0 or unset means never',
      example: { todo: 30 },
    }),
  okf_dir: z.string().min(1).default('.svc/memory/okf').meta({
    consent: true,
    notation: 'string',
    description: 'Folder that memories are exported to and imported from as OKF markdown.',
    unset: '.svc/memory/okf, below paths.data',
  }),
});
