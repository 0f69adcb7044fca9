import { SvcError } from '../../core/base/errors.ts';

/** An entry of `webhook.templates`. */
export interface TaskTemplate {
  agent?: string | undefined;
  prompt?: string | undefined;
  project?: string | undefined;
  /** 0 means `agents.timeout_sec`. */
  timeout_sec?: number | undefined;
}

export type TaskTemplates = Readonly<Record<string, TaskTemplate>>;

/** The fields of a task that a template can set. */
export interface TemplateFields {
  template: string | null;
  agent: string | null;
  project: string | null;
  timeoutSec: number | null;
  prompt: string | undefined;
}

/**
 * Returns the fields of a task made from the template `name`, or from none. A caller's own prompt replaces the
 * template's. Throws `unknown_template`.
 */
export function applyTemplate(
  templates: TaskTemplates,
  name: string | undefined,
  prompt: string | undefined,
): TemplateFields {
  const template = name === undefined ? {} : findTemplate(templates, name);
  return {
    template: name ?? null,
    agent: template.agent ?? null,
    project: template.project ?? null,
    timeoutSec: template.timeout_sec || null,
    prompt: prompt ?? template.prompt,
  };
}

/** Throws `unknown_template`. */
export function findTemplate(templates: TaskTemplates, name: string): TaskTemplate {
  const found = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(templates).sort().join(', ');
  throw new SvcError('unknown_template', `no template ${JSON.stringify(name)} in webhook.templates`, {
    hint: known === '' ? 'webhook.templates is empty' : `known: ${known}`,
  });
}
