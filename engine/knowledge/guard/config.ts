import * as z from 'zod';

/** The `guard` section: rules for code that duplicates existing code. */
export const guardSchema = z.strictObject({
  profile: z.enum(['', 'lite', 'shared', 'strict', 'bring', 'none']).default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Set of guards that hooks apply, see docs/use/guard.md; strict also confines workers and only promotes verified work.',
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
        'Commands of the repository that must pass, such as its package scripts, make targets and pre-commit: svc runs them in a clean checkout as evidence of a session’s work; with bring and strict after each run.',
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
        unset: 'set by the profile: advisory, with strict block',
      }),
      window: z.int().min(0).default(0).meta({
        consent: true,
        notation: 'int',
        description:
          'Tokens in the rolling hash: a shorter run does not indicate a copy. Changing it reads all files again.',
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
        description: 'Maximum number of files of a project that are compared, first by path.',
        unset: '0 means 5000',
      }),
    })
    .prefault({}),
  language: z
    .strictObject({
      exclude: z
        .array(z.string().trim().min(1).max(1000))
        .max(200)
        .default([])
        .meta({
          consent: true,
          notation: '[]string',
          nil: true,
          description:
            'Files, folders and patterns, relative to a project, whose texts may be in any language. Translations, such as locales/de.ts, need no entry.',
          unset: 'none',
          example: ['docs/quotes', '**/*.fixture.ts'],
        }),
    })
    .prefault({}),
});
