import type { By } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import { makeTitle } from '../base/text.ts';
import type { NewTask, Task } from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import { fieldsInvalidError } from './body.ts';
import type { TaskTemplate } from './config.ts';
import { type Answer, jsonAnswer } from './request.ts';

/** The `webhook` section, as far as the receiver reads it on each request. */
export interface WebhookConfig {
  allow: readonly ('task' | 'codehost' | 'chat')[];
  require_approval: boolean;
  templates: Readonly<Record<string, TaskTemplate>>;
}

/** What the receiver reads of the configuration. */
export interface ReceiverConfig {
  webhook: WebhookConfig;
  policy: { actors: readonly string[] };
}

/** Looks agents and projects up. */
export interface AgentLookup {
  /** Throws `unknown_agent`. */
  findCommand(agent: string): unknown;
  /** Throws `unknown_project`. */
  resolveFolder(project: string): unknown;
  /** What a task without an agent runs as, null for none. */
  findDefaultAgent(): string | null;
}

/** A task as a route understood it. */
export interface Incoming {
  template: string | null;
  agent: string | null;
  project: string | null;
  timeoutSec: number | null;
  prompt: string;
  /** Absent: the prompt's first line. */
  title?: string;
  context?: string;
  source: 'task' | 'codehost' | 'chat';
  sourceRef: string | null;
  actor: string;
  /** Why nobody has vouched for whoever wrote it, a clause; left out for anybody else. */
  stranger?: string | null;
}

/** What becomes of it. */
export interface Wish {
  dispatch: boolean;
  approve: boolean;
}

/** Turns what the three routes understood into a task. */
export interface Intake {
  /** Throws `unknown_template`. */
  findTemplate(name: string): TaskTemplate;
  /** What of a task a template says; `prompt` replaces its own. Throws `fields_invalid` when neither has one. */
  fromTemplate(
    name: string,
    prompt?: string,
  ): Pick<Incoming, 'template' | 'agent' | 'project' | 'timeoutSec' | 'prompt'>;
  /** Creates the task inside `storage.write`. Throws `unknown_agent`, `unknown_project`. */
  submitTask(incoming: Incoming, wish: Wish): Task;
  /** The answer that names a task: 201 when it is new, 200 when it was there. */
  answerWithTask(task: Task, status: 200 | 201): Answer;
}

export function createIntake({
  config,
  agents,
  workflow,
}: {
  config(): { webhook: WebhookConfig };
  agents: AgentLookup;
  workflow: Workflow;
}): Intake {
  function findTemplate(name: string): TaskTemplate {
    const { templates } = config().webhook;
    const found = Object.hasOwn(templates, name) ? templates[name] : undefined;
    if (found !== undefined) return found;
    const known = Object.keys(templates).sort().join(', ');
    throw new SvcError('unknown_template', `no template ${JSON.stringify(name)} in webhook.templates`, {
      hint: known === '' ? 'webhook.templates is empty' : `known: ${known}`,
    });
  }

  return {
    findTemplate,

    fromTemplate(name, given) {
      const { agent = null, project = null, timeout_sec, prompt = given } = findTemplate(name);
      const text = given ?? prompt;
      if (text === undefined) {
        throw fieldsInvalidError([{ field: 'template', problem: `webhook.templates.${name} has no prompt` }]);
      }
      // 0 in a template means agents.timeout_sec.
      return { template: name, agent, project, timeoutSec: timeout_sec || null, prompt: text };
    },

    submitTask(incoming, wish) {
      const { prompt, title, source, actor, context } = incoming;
      // Resolved now: the approval is bound to the agent that will run, not to a default that may change.
      const agent = incoming.agent ?? agents.findDefaultAgent();
      if (agent !== null) agents.findCommand(agent);
      if (incoming.project !== null) agents.resolveFolder(incoming.project);
      const { stranger = null } = incoming;
      const { approved, why } = judgeApproval(wish, config().webhook.require_approval, stranger !== null);
      if (agent === null && wish.dispatch && approved) {
        throw new SvcError('unknown_agent', 'neither the request nor its template names an agent', {
          hint: 'name one in webhook.templates, or set agents.default_preset',
        });
      }
      const task: NewTask = {
        title: makeTitle(title ?? prompt),
        body: prompt,
        agent,
        project: incoming.project,
        template: incoming.template,
        context,
        timeoutSec: incoming.timeoutSec,
        source,
        sourceRef: incoming.sourceRef,
        stranger,
        actor,
      };
      const by: By = { actor, via: source };
      return workflow.submit(task, { dispatch: wish.dispatch, approved, why, by }).task;
    },

    answerWithTask(task, status) {
      const dispatched = task.sessionId !== null;
      return jsonAnswer(
        status,
        {
          task_id: task.taskId,
          status: task.status,
          dispatched,
          session_id: task.sessionId,
          decision_id: dispatched ? null : task.decisionId,
        },
        task.taskId,
      );
    },
  };
}

/** Whether a task may run as it came in, and why (03 §3). */
function judgeApproval(
  { dispatch, approve }: Wish,
  requireApproval: boolean,
  isStranger: boolean,
): { approved: boolean; why: string } {
  if (approve && !isStranger) {
    return {
      approved: true,
      why: dispatch ? 'approved in the request' : 'approved in the request, which did not ask for dispatch',
    };
  }
  if (!dispatch) return { approved: false, why: 'the request did not ask for dispatch' };
  if (requireApproval) {
    return { approved: false, why: 'webhook.require_approval is true and the request had no approve' };
  }
  if (isStranger) return { approved: false, why: 'nothing of a stranger runs unseen' };
  return { approved: true, why: 'webhook.require_approval is false' };
}
