import * as z from 'zod';

/** The `guard` section: what happens when an agent writes code that exists already. */
export const guardSchema = z.strictObject({
  profile: z.enum(['', 'lite', 'shared', 'strict', 'bring', 'none']).default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Set of guards that hooks apply; strict also confines workers and promotes only what svc has verified.',
    unset: 'lite',
  }),
  dup: z
    .strictObject({
      mode: z.enum(['', 'advisory', 'block', 'off']).default('').meta({
        pending: 'the search for copies of code',
        consent: true,
        notation: 'string',
        description:
          'advisory tells the agent about the existing code; block refuses the write; off does neither.',
        unset: 'advisory',
      }),
      window: z.int().min(0).default(0).meta({
        pending: 'the search for copies of code',
        consent: true,
        notation: 'int',
        description: 'Tokens in the rolling hash.',
        unset: '0 means 40',
      }),
      min_tokens: z.int().min(0).default(0).meta({
        pending: 'the search for copies of code',
        consent: true,
        notation: 'int',
        description: 'Shortest copy that is reported, in tokens.',
        unset: '0 means 60',
      }),
      max_files: z.int().min(0).default(0).meta({
        pending: 'the search for copies of code',
        consent: true,
        notation: 'int',
        description: 'Files compared per call.',
        unset: '0 means 5000',
      }),
    })
    .prefault({}),
});
