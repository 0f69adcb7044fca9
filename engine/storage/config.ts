import * as z from 'zod';

/** The `db` section. */
export const dbSchema = z.strictObject({
  path: z.string().min(1).default('.svc/svc.db').meta({
    consent: true,
    notation: 'string',
    description: 'The SQLite file.',
    unset: '.svc/svc.db, below paths.data',
  }),
});

/** The `paths` section; relative paths are relative to the folder of svc.yaml. */
export const pathsSchema = z.strictObject({
  shared: z.string().default('').meta({
    consent: true,
    notation: 'string',
    description: 'Folder of shared code.',
    unset: 'none; see shared',
  }),
  agents: z.string().min(1).default('.svc/agents').meta({
    consent: true,
    notation: 'string',
    description: "Folder of the workers' output.",
    unset: '.svc/agents, below paths.data',
  }),
  worktrees: z.string().min(1).default('.svc/agents/worktrees').meta({
    consent: true,
    notation: 'string',
    description: "Folder of the workers' worktrees.",
    unset: '.svc/agents/worktrees, below paths.data',
  }),
  data: z.string().min(1).default('.svc').meta({
    consent: true,
    notation: 'string',
    description: 'Folder of all data of the engine; other default paths below .svc follow it.',
    unset: '.svc',
  }),
});
