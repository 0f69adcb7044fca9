import * as z from 'zod';
import { pullRequestFields } from '../pull-requests/config.ts';
import { setupFields } from '../workers/runner/setup/config.ts';

/** The `project` section: the workspace's own project. */
export const projectSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .default('workspace')
    .meta({ notation: 'string', description: 'Name of the project in this folder.', unset: 'workspace' }),
  root: z.string().min(1).default('.').meta({
    consent: true,
    notation: 'string',
    description: "The project's folder.",
    unset: 'the folder of svc.yaml',
  }),
});

const projectEntry = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected a project id: letters, digits, . _ -')
    .meta({ description: 'id that tasks name' }),
  path: z.string().min(1).meta({ description: 'folder, relative to svc.yaml or absolute' }),
  kind: z.string().default('').meta({ description: 'free text, such as app or library' }),
  pool: z.string().default('').meta({
    description: 'pool of machines that its runs go to; local for this machine, empty for fleet.pool',
  }),
  verify: z.enum(['here', 'pool']).default('here').meta({
    description:
      'where svc reruns the evidence of its runs on other machines: here, or on another machine of their pool, for tests that need its hardware',
  }),
  ...pullRequestFields,
  ...setupFields,
});

/** The `projects` section: one key. */
export const projectsSchema = z
  .array(projectEntry)
  .default([])
  .meta({
    consent: true,
    notation: '[]ProjectEntry',
    nil: true,
    description:
      "Registered units of the workspace, each with id, path and kind. setup and teardown are lists of commands that run in a new worktree and before its removal; env_files are files that git ignores and that are copied into a new worktree; run names commands that svc worktree run starts in one; pool is where its runs go, and verify where their evidence is rerun, see docs/operate/fleet.md; pull_request, branch, on_red and max_rounds are about the pull requests that svc opens, see docs/automate/pull-requests.md; svc project trust must allow them on each machine. An entry with the path of the workspace's own project applies to that project.",
    unset: 'only the project of this folder',
    example: [
      {
        id: 'api',
        path: 'services/api',
        kind: 'app',
        setup: ['npm ci'],
        teardown: ['docker compose down'],
        env_files: ['.env.local'],
        run: { dev: 'sh -c "npm run dev -- --port $SVC_PORT"' },
      },
    ],
  });

/** The `workspace` section. */
export const workspaceSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .default('workspace')
    .meta({ notation: 'string', description: 'Name of the workspace.', unset: 'workspace' }),
  root: z.string().min(1).default('.').meta({
    pending: 'a workspace in a different folder from its svc.yaml',
    consent: true,
    notation: 'string',
    description: "The workspace's folder.",
    unset: 'the folder of svc.yaml',
  }),
  primary_languages: z
    .array(z.string().min(1))
    .default([])
    .meta({
      notation: '[]string',
      nil: true,
      description:
        'Main programming languages, by the names used in parsers: their files are checked first if there are more than guard.dup.max_files.',
      unset: 'the languages with the most files',
      example: ['typescript'],
    }),
  locale: z.string().default('').meta({
    notation: 'string',
    description:
      'Language of documents and prose, see docs/use/guard.md; agents also get the rules of chair.guidance in it (en, de, es, fr, ja, zh).',
    unset: 'English rules; documents are not checked',
    example: 'en',
  }),
  code_lang: z.string().default('').meta({
    notation: 'string',
    description:
      'Language of comments, identifiers and texts that users see, see docs/use/guard.md; en is recommended.',
    unset: 'not checked',
    example: 'en',
  }),
});
