import * as z from 'zod';

/** The `parsers` section: one key. */
export const parsersSchema = z
  .record(z.string().regex(/^\.?[A-Za-z0-9_+-]+$/, 'expected a file extension'), z.string().min(1))
  .default({})
  .meta({
    notation: 'map ext->lang',
    nil: true,
    description: 'Language per file extension.',
    unset: 'the built-in table',
    example: { ts: 'typescript', mjs: 'javascript' },
  });

/** The `graph` section: options of the code graph. */
export const graphSchema = z.strictObject({
  exact: z.boolean().default(false).meta({
    consent: true,
    notation: 'bool',
    description:
      'Ask the project’s own typescript which symbols call which, in addition to the index. It is code of the repository, and runs confined if this machine can confine it; see docs/use/graph.md.',
    unset: 'off',
  }),
});

/** The `shared` section: one key. */
export const sharedSchema = z
  .record(z.string().min(1), z.array(z.string().min(1)))
  .default({})
  .meta({
    notation: 'map string->[]string',
    description: 'Paths of shared code per language; one path holds one language.',
    unset: 'no shared code',
    example: { typescript: ['packages/shared'] },
  });
