import type { Agents } from '../../agents/index.ts';
import type { By, Caller } from '../../api/operation.ts';
import { SvcError } from '../../base/errors.ts';
import { makeTitle } from '../../base/text.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import { agentOverrides, PRIORITIES } from '../input.ts';
import type { Submitted, Workflow } from '../workflow/index.ts';
import type { NewTask, Tasks } from './index.ts';

/** An entry of `webhook.templates`. */
export interface Template {
  agent?: string | undefined;
  prompt?: string | undefined;
  project?: string | undefined;
  timeout_sec?: number | undefined;
}

/** What a client says of a new task. */
export interface TaskWish {
  title?: string | undefined;
  body?: string | undefined;
  agent?: string | undefined;
  project?: string | undefined;
  template?: string | undefined;
  acceptance_criteria?: string[] | undefined;
  context?: string | undefined;
  ledger?: string | undefined;
  timeout_sec?: number | undefined;
  priority?: keyof typeof PRIORITIES | undefined;
}

/** How clients make and start tasks, for the operations and for the tools. Inside `storage.write`. */
export interface TaskActions {
  /** What a wish comes to with its template. Throws `unknown_template`, `unknown_agent`, `unknown_project`, `fields_invalid`. */
  newTask(wish: TaskWish, caller: Caller): NewTask;
  /** Runs a task; one that names no agent gets the one that runs then. */
  run(taskId: string, options: DispatchOptions, who: By): Submitted;
}

export function createTaskActions(deps: {
  tasks: Tasks;
  workflow: Workflow;
  agents: Agents;
  templates(): Readonly<Record<string, Template>>;
  /** The one name of a ledger's file. Throws `path_outside`. */
  ledgerKey(path: string): string;
}): TaskActions {
  const { tasks, workflow, agents } = deps;

  function templateOf(name: string | undefined): Template | undefined {
    if (name === undefined) return undefined;
    const templates = deps.templates();
    if (Object.hasOwn(templates, name)) return templates[name];
    throw new SvcError('unknown_template', `no template ${JSON.stringify(name)} in webhook.templates`, {
      hint: `known: ${Object.keys(templates).sort().join(', ') || 'none'}`,
    });
  }

  return {
    newTask(wish, caller) {
      const template = templateOf(wish.template);
      const agent = wish.agent ?? template?.agent ?? null;
      const project = wish.project ?? template?.project ?? caller.project;
      if (agent !== null) agents.withOverrides(agentOverrides(caller)).findCommand(agent);
      agents.resolveFolder(project);
      const text = wish.body ?? template?.prompt ?? '';
      if (wish.title === undefined && text.trim() === '')
        throw new SvcError('fields_invalid', 'title: a task needs a title or a prompt');
      return {
        title: wish.title ?? makeTitle(text),
        body: text,
        agent,
        project,
        template: wish.template,
        acceptanceCriteria: wish.acceptance_criteria,
        context: wish.context,
        ledger: wish.ledger === undefined ? undefined : deps.ledgerKey(wish.ledger),
        // 0 in a template means agents.timeout_sec.
        priority: PRIORITIES[wish.priority ?? 'normal'],
        timeoutSec: wish.timeout_sec ?? (template?.timeout_sec || null),
        source: caller.via === 'tui' || caller.via === 'tool' ? caller.via : ('cli' as const),
        sourceRef: caller.via === 'tool' ? caller.sessionId : null,
        actor: caller.actor,
      };
    },

    run(taskId, options, who) {
      const { status, agent } = tasks.get(taskId);
      const fallback = agents.withOverrides(options.agents).findDefaultAgent();
      if (status === 'open' && agent === null && fallback !== null) workflow.assign(taskId, fallback, who);
      return workflow.run(taskId, options, who);
    },
  };
}
