import { AGENT_MARKS } from '../../core/access/agent-marks.ts';
import type { CallAuthor, Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { makeTitle } from '../../core/base/text.ts';
import type { AgentRegistry } from '../../workers/agents/index.ts';
import { agentOverrides, type DispatchOptions } from '../dispatch-options.ts';
import { PRIORITIES } from '../input.ts';
import type { NewTask, Tasks } from '../tasks/index.ts';
import { applyTemplate, type TaskTemplates } from '../tasks/templates.ts';
import type { SubmitResult, Workflow } from '../workflow/index.ts';

/** A client's input for a new task. */
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
  after?: string[] | undefined;
}

/** How clients create and start tasks. Call inside `storage.write`. */
export interface TaskActions {
  /**
   * Merges a client's options with its template. Throws `unknown_template`, `unknown_agent`, `unknown_project`,
   * `fields_invalid`.
   */
  newTask(wish: TaskWish, caller: Caller): NewTask;
  /** Runs a task; one without an agent gets the default one. */
  run(taskId: string, options: DispatchOptions, who: CallAuthor): SubmitResult;
}

/** Returns the origin of this caller's tasks. */
export const findTaskSource = ({ via, sessionId }: Caller): Pick<NewTask, 'source' | 'sourceRef'> => ({
  source: via === 'tui' || via === 'tool' ? via : 'cli',
  sourceRef: via === 'tool' ? sessionId : null,
});

/** Reports whether an agent calls: by a tool, or by a command in its shell. Its title is then not from a person. */
const isAgents = ({ via, env }: Caller): boolean => via === 'tool' || AGENT_MARKS.some((name) => env[name]);

export function createTaskActions(deps: {
  tasks: Tasks;
  workflow: Workflow;
  agents: AgentRegistry;
  templates(): TaskTemplates;
  /** Returns the canonical name of a ledger's file. Throws `path_outside`. */
  ledgerKey(path: string): string;
}): TaskActions {
  const { tasks, workflow, agents } = deps;

  return {
    newTask(wish, caller) {
      const { template, prompt, ...fields } = applyTemplate(deps.templates(), wish.template, wish.body);
      const agent = wish.agent ?? fields.agent;
      const project = wish.project ?? fields.project ?? caller.project;
      if (agent !== null) agents.withOverrides(agentOverrides(caller)).findCommand(agent);
      agents.resolveFolder(project);
      const text = prompt ?? '';
      if (wish.title === undefined && text.trim() === '')
        throw new SvcError('fields_invalid', 'title: a task needs a title or a prompt');
      return {
        title: wish.title ?? makeTitle(text),
        body: text,
        agent,
        project,
        template,
        acceptanceCriteria: wish.acceptance_criteria,
        context: wish.context,
        ledger: wish.ledger === undefined ? undefined : deps.ledgerKey(wish.ledger),
        priority: PRIORITIES[wish.priority ?? 'normal'],
        timeoutSec: wish.timeout_sec ?? fields.timeoutSec,
        after: wish.after,
        ...findTaskSource(caller),
        // A title alone is the prompt.
        origin: { isTitleGiven: wish.title !== undefined && text.trim() !== '' && !isAgents(caller) },
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
