import {
  applyTemplate,
  type NewTask,
  type Task,
  type TaskTemplates,
  type TemplateFields,
} from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import type { CallAuthor } from '../core/api/operation.ts';
import { SvcError } from '../core/base/errors.ts';
import { makeTitle } from '../core/base/text.ts';
import { fieldsInvalidError } from '../core/http/body.ts';
import { jsonAnswer, type ReceiverAnswer } from './request.ts';

/** The part of the `webhook` section that is read on each request. */
export interface WebhookConfig {
  allow: readonly ('task' | 'codehost' | 'chat')[];
  require_approval: boolean;
  templates: TaskTemplates;
}

/** The parts of the configuration that the receiver reads. */
export interface ReceiverConfig {
  webhook: WebhookConfig;
  policy: { actors: readonly string[] };
}

/** Looks up agents and projects. */
export interface AgentLookup {
  /** Throws `unknown_agent`. */
  findCommand(agent: string): unknown;
  /** Throws `unknown_project`. */
  resolveFolder(project: string): unknown;
  /** Returns the agent for a task that names none; null when there is no default. */
  findDefaultAgent(): string | null;
}

/** A task as a route has parsed it. */
export interface ParsedTask {
  template: string | null;
  agent: string | null;
  project: string | null;
  timeoutSec: number | null;
  prompt: string;
  /** Defaults to the prompt's first line. */
  title?: string;
  context?: string;
  source: 'task' | 'codehost' | 'chat';
  sourceRef: string | null;
  /** See `Task.sourceUrl`. */
  sourceUrl?: string | null;
  /** See `Task.authorRole`. */
  authorRole?: string | null;
  actor: string;
  /** Why its author is not trusted, as a clause; absent for a trusted author. */
  stranger?: string | null;
  /** The handle of its author; null if unknown. */
  author: string | null;
  /** The service reports its author as owner, member or collaborator. */
  isVouched?: boolean;
}

/** The requested action for the task. */
export interface SubmitOptions {
  dispatch: boolean;
  approve: boolean;
}

/** Turns requests of the three routes into tasks. */
export interface TaskIntake {
  /**
   * Builds the fields of a task from a template; `prompt` replaces the template's own. Throws `unknown_template`, and
   * `fields_invalid` when neither has a prompt.
   */
  fromTemplate(name: string, prompt?: string): TemplateFields & { prompt: string };
  /** Creates the task inside `storage.write`. Throws `unknown_agent`, `unknown_project`. */
  submitTask(incoming: ParsedTask, wish: SubmitOptions): Task;
  /** Builds the answer that names a task: 201 for a new one, 200 for an existing one. */
  answerWithTask(task: Task, status: 200 | 201): ReceiverAnswer;
}

export function createIntake({
  config,
  agents,
  workflow,
}: {
  config(): { webhook: WebhookConfig };
  agents: AgentLookup;
  workflow: Workflow;
}): TaskIntake {
  return {
    fromTemplate(name, given) {
      const fields = applyTemplate(config().webhook.templates, name, given);
      const { prompt } = fields;
      if (prompt === undefined) {
        throw fieldsInvalidError([{ field: 'template', problem: `webhook.templates.${name} has no prompt` }]);
      }
      return { ...fields, prompt };
    },

    submitTask(incoming, wish) {
      const { prompt, title, source, actor, context } = incoming;
      // Resolved now: the approval binds the agent that will run, not a default that may change.
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
        sourceUrl: incoming.sourceUrl ?? null,
        authorRole: incoming.authorRole ?? null,
        stranger,
        origin: {
          isTitleGiven: title !== undefined,
          author: incoming.author,
          isVouched: incoming.isVouched ?? false,
        },
        actor,
      };
      const by: CallAuthor = { actor, via: source };
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

/** Returns whether a task may run without a decision, and why (03 §3). */
function judgeApproval(
  { dispatch, approve }: SubmitOptions,
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
    return { approved: false, why: 'the request did not carry one (webhook.require_approval)' };
  }
  if (isStranger) return { approved: false, why: 'a task from an untrusted author always needs approval' };
  return { approved: true, why: 'webhook.require_approval is false' };
}
