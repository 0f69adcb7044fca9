import * as z from 'zod';
import { variablesKey } from '../core/base/values/variable.ts';
import { pullRequestFields } from '../pull-requests/config.ts';

/** Routes that `webhook.allow` can list. */
export const ROUTES = ['task', 'codehost', 'chat'] as const;

/** Routes with separate secrets: the above, and everything below /decisions. */
export const SECRET_ROUTES = [...ROUTES, 'decisions'] as const;
export type SecretRoute = (typeof SECRET_ROUTES)[number];

/** Secrets by route, several during a rotation; a route without secrets is closed. */
export type RouteSecrets = Readonly<Partial<Record<SecretRoute, readonly string[]>>>;

const template = z.strictObject({
  agent: z.string().min(1).optional().meta({ description: 'preset that runs it' }),
  prompt: z.string().min(1).optional().meta({ description: 'its prompt' }),
  timeout_sec: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'time limit of the run; 0 means agents.timeout_sec' }),
  project: z.string().min(1).optional().meta({ description: 'project id' }),
  ...pullRequestFields,
});

const ofRoutes = Object.fromEntries(
  SECRET_ROUTES.map((route) => [route, variablesKey().optional()]),
) as Record<(typeof SECRET_ROUTES)[number], z.ZodOptional<ReturnType<typeof variablesKey>>>;

/** The `webhook` section: the signed receiver. */
export const webhookSchema = z.strictObject({
  secret_env: z
    .union([variablesKey(), z.strictObject(ofRoutes)])
    .default('')
    .meta({
      consent: true,
      notation: 'string, or map route->string',
      description:
        'Environment variable that holds the shared secret; several, separated by commas, while a secret is being replaced. A map has one for each of task, codehost, chat and decisions, so that a sender for one cannot sign for another; an omitted route is closed.',
      unset: 'svc webhook serve does not start',
      example: 'SVC_WEBHOOK_SECRET',
    }),
  allow: z
    .array(z.enum(ROUTES))
    .default([...ROUTES])
    .meta({
      consent: true,
      notation: '[]string',
      description: 'Routes that are served.',
      unset: 'all three',
    }),
  require_approval: z.boolean().default(true).meta({
    consent: true,
    notation: 'bool',
    description: 'Makes a dispatch wait for approval; false lets a signed request dispatch immediately.',
    unset: 'true',
  }),
  templates: z
    .record(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected a template name: letters, digits, . _ -'),
      template,
    )
    .default({})
    .meta({
      consent: true,
      notation: 'map string->TaskTemplate',
      description:
        'Tasks that a request can name: agent, prompt, timeout_sec, project, pull_request, branch, on_red, max_rounds. The template named codehost is used for issues.',
      unset: 'none; /codehost events are ignored',
      example: { codehost: { agent: 'claude', prompt: 'Fix the issue.', timeout_sec: 1800 } },
    }),
});
