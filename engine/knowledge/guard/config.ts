import * as z from 'zod';

/** The `guard` section: what happens when an agent writes code that exists already. */
export const guardSchema = z.strictObject({
  profile: z.enum(['', 'lite', 'shared', 'strict', 'bring', 'none']).default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Set of guards that hooks apply, see docs/guard.md; strict also confines workers and promotes only what svc has verified.',
    unset: 'lite',
  }),
  checks: z
    .array(z.string().trim().min(1).max(2000))
    .max(50)
    .default([])
    .meta({
      consent: true,
      notation: '[]string',
      nil: true,
      description:
        'Commands of the repository that have to pass, such as its package scripts, make targets and pre-commit: svc runs them in a clean checkout as evidence of a session’s work; bring and strict after each run.',
      unset: 'no checks',
      example: ['npm test', 'make lint', 'pre-commit run --all-files'],
    }),
  dup: z
    .strictObject({
      mode: z.enum(['', 'advisory', 'block', 'off']).default('').meta({
        consent: true,
        notation: 'string',
        description:
          'advisory tells the agent about the existing code; block refuses the write; off does neither.',
        unset: 'what the profile has: advisory, under strict block',
      }),
      window: z.int().min(0).default(0).meta({
        consent: true,
        notation: 'int',
        description:
          'Tokens in the rolling hash: a shorter run is no sign of a whole copy. Changing it reads all files anew.',
        unset: '0 means 40',
      }),
      min_tokens: z.int().min(0).default(0).meta({
        consent: true,
        notation: 'int',
        description: 'Shortest copy that is reported, in tokens.',
        unset: '0 means 60',
      }),
      max_files: z.int().min(0).default(0).meta({
        consent: true,
        notation: 'int',
        description: 'Files of a project that are compared, the first ones by path.',
        unset: '0 means 5000',
      }),
    })
    .prefault({}),
});
