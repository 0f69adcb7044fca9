import * as z from 'zod';
import { variableKey } from '../core/base/values/variable.ts';
import { type ForgeKind, REPOSITORY_NAMES } from '../forge/config.ts';

/** The name of a label or template that a source gives issues if none is set. */
const LABEL = 'svc';
const TEMPLATE = 'codehost';

const repository = (kind: ForgeKind, form: string) =>
  z
    .string()
    .regex(REPOSITORY_NAMES[kind], `expected ${form}`)
    .meta({ description: kind === 'gitlab' ? 'path of the project' : 'owner and name' });

const shared = {
  label: z
    .string()
    .min(1)
    .max(50)
    .regex(/^[^,]*$/, 'a label has no comma')
    .default(LABEL)
    .meta({ description: 'label that makes an issue a task' }),
  interval_sec: z
    .int()
    .min(15)
    .max(86_400)
    .default(60)
    .meta({ description: 'time between two polls, seconds' }),
  template: z
    .string()
    .min(1)
    .default(TEMPLATE)
    .meta({ description: 'template of its issues, of webhook.templates' }),
};

const host = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i, 'expected a host such as git.example.org');

const source = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('github'), repository: repository('github', 'owner/name'), ...shared }),
  z.strictObject({
    kind: z.literal('gitlab'),
    repository: repository('gitlab', 'group/project'),
    host: host.default('gitlab.com').meta({ description: 'host of the GitLab' }),
    ...shared,
  }),
  z.strictObject({
    kind: z.literal('gitea'),
    repository: repository('gitea', 'owner/name'),
    host: host.meta({ description: 'host of the Gitea or Forgejo' }),
    token_env: variableKey().min(1).optional().meta({
      description: 'environment variable that holds an access token; without it, tea is logged in there',
    }),
    ...shared,
  }),
]);

/** A repository whose issues and comments become tasks. */
export type SourceConfig = z.output<typeof source>;

/** The `sources` section: repositories of code hosts that are polled. */
export const sourcesSchema = z
  .array(source)
  .default([])
  .meta({
    consent: true,
    notation: '[]Source',
    nil: true,
    description:
      'Repositories of code hosts that the engine polls with the program of the person, who is logged in to it: kind github (gh), gitlab (glab) or gitea (tea, or the token in token_env; for Forgejo too), repository, host (of gitlab and gitea), label, interval_sec, template. An issue that gets the label, and a comment that starts with /svc and a template, become the same task that a webhook would create, and wait for approval as that does.',
    unset: 'nothing is polled',
    example: [{ kind: 'github', repository: 'acme/shop', label: 'svc' }],
  });
