import type { Decisions } from '../../board/decisions/index.ts';
import type { Task, Tasks } from '../../board/tasks/index.ts';
import { type Workflow, whyReplaced } from '../../board/workflow/index.ts';
import { actorDenied, type CallAuthor } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { countUnseen, describeUnseen, toPrintable } from '../../core/base/text.ts';
import { parseFormBody } from '../../core/http/body.ts';
import { SCHEMES } from '../../core/http/signature.ts';
import { readSlackMarkup } from '../../core/http/slack-markup.ts';
import type { Sessions } from '../../workers/sessions/index.ts';
import type { ReceiverConfig, TaskIntake } from '../intake.ts';
import { problemAnswer } from '../problem.ts';
import { jsonAnswer, type ReceiverAnswer } from '../request.ts';
import { formatChatActor } from '../sender.ts';
import type { ReceiverRoute } from './route.ts';

/** As the chat shows them. */
interface Sender {
  shown: string | undefined;
  channel: string | undefined;
}

/**
 * Creates the route `POST /chat`: a slash command. `<template> <prompt>` creates a task; `approve <id>`, `deny <id>
 * [reason]` and `status <id>` act on existing ones, and take precedence over templates of those names. Only the
 * sender sees the answers.
 */
export function createChatRoute({
  intake,
  workflow,
  tasks,
  decisions,
  sessions,
  config,
}: {
  intake: TaskIntake;
  workflow: Workflow;
  tasks: Tasks;
  decisions: Decisions;
  sessions: Sessions;
  config(): ReceiverConfig;
}): ReceiverRoute {
  /** Reports whether the sender is missing from a nonempty list: such users may request work but decide nothing. */
  const isStranger = ({ actor }: CallAuthor): boolean => {
    const { actors } = config().policy;
    return actors.length > 0 && !actors.includes(actor);
  };

  function checkMayDecide(by: CallAuthor): void {
    if (isStranger(by)) throw actorDenied(by.actor);
  }

  function createTask(
    template: string,
    prompt: string,
    by: CallAuthor,
    { shown, channel }: Sender,
  ): ReceiverAnswer {
    const named = intake.fromTemplate(template, prompt === '' ? undefined : prompt);
    const task = intake.submitTask(
      {
        ...named,
        source: 'chat',
        // Users choose their display name freely, so it follows the id and appears only here.
        sourceRef: `${by.actor}${shown ? ` (${shown})` : ''}${channel ? ` in ${channel}` : ''}`.slice(0, 300),
        actor: by.actor,
        author: by.actor,
        stranger: isStranger(by) ? `${by.actor} is not in policy.actors` : null,
      },
      { dispatch: true, approve: false },
    );
    return ephemeralAnswer(`${task.taskId} was created and ${describeFate(task)}`, task.taskId);
  }

  function approveDecision(id: string, by: CallAuthor): ReceiverAnswer {
    checkMayDecide(by);
    const approved = workflow.approve(id, by);
    const { decision } = approved;
    const refused = whyReplaced(approved);
    // Returned, not thrown: the decision that is pending now must be kept.
    if (refused !== null)
      return ephemeralAnswer(`${refused.message}. ${decision.decisionId} replaces it.`, decision.taskId);
    const how = decision.sessionId === null ? 'is approved' : `was dispatched as ${decision.sessionId}`;
    const text = `${decision.decisionId} was approved by ${decision.decidedBy ?? by.actor}: ${decision.taskId} ${how}.${warnOfUnseen(tasks.get(decision.taskId))}`;
    return ephemeralAnswer(text, decision.taskId);
  }

  function denyDecision(id: string, reason: string, by: CallAuthor): ReceiverAnswer {
    checkMayDecide(by);
    const { decision } = workflow.deny(id, reason === '' ? 'denied in the chat' : reason, by);
    const text = `${decision.decisionId} was denied by ${decision.decidedBy ?? by.actor}: ${decision.taskId} will not run.`;
    return ephemeralAnswer(text, decision.taskId);
  }

  return {
    method: 'POST',
    scheme: SCHEMES.chat,
    safe: false,
    handle(request) {
      const fields = parseFormBody(request.body);
      const by: CallAuthor = { actor: formatChatActor(fields.get('user_id')), via: 'chat' };
      const text = readSlackMarkup(fields.get('text') ?? '').trim();
      const word = /^\S*/.exec(text)![0];
      const rest = text.slice(word.length).trim();
      if (word === '' || word === 'help') return ephemeralAnswer(answerHelp(config()));
      if (rest.includes('\0')) throw new SvcError('fields_invalid', 'the text must not contain NUL');
      const [id = '', ...more] = rest.split(/\s+/);
      if (word === 'approve' || word === 'deny' || word === 'status') {
        if (id === '') throw new SvcError('fields_invalid', `${word} needs an id`);
        if (word === 'approve') return approveDecision(id, by);
        return word === 'deny'
          ? denyDecision(id, more.join(' '), by)
          : answerStatus(id, { tasks, decisions, sessions });
      }
      const sender = { shown: fields.get('user_name'), channel: fields.get('channel_name') };
      return createTask(word, rest, by, sender);
    },
    // Chat services only show answers with status 200; a body that is not a form did not come from one.
    answerRefusal(error) {
      return error.code === 'body_invalid'
        ? problemAnswer(error)
        : ephemeralAnswer(`${error.message}. ${answerHelp(config())}`);
    },
  };
}

/** Warns of a prompt with invisible characters; empty for any other. */
function warnOfUnseen({ prompt }: Pick<Task, 'prompt'>): string {
  const holds = describeUnseen(countUnseen(prompt));
  return holds === null ? '' : ` Its prompt ${holds}.`;
}

const describeFate = (task: Task): string =>
  task.sessionId === null
    ? `awaits approval: ${task.decisionId} (approve ${task.decisionId}, or deny ${task.decisionId}).${warnOfUnseen(task)}`
    : `dispatched as ${task.sessionId}.`;

/** Escapes `&`, `<` and `>`, which are chat markup: `<!channel>` in a title must not notify anyone. */
const escapeMarks = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const ephemeralAnswer = (text: string, taskId: string | null = null): ReceiverAnswer =>
  jsonAnswer(
    200,
    { response_type: 'ephemeral', text: escapeMarks(toPrintable(text, { lines: true })) },
    taskId,
  );

/** Answers with the state of a task, or of a decision and its task. */
function answerStatus(
  id: string,
  { tasks, decisions, sessions }: { tasks: Tasks; decisions: Decisions; sessions: Sessions },
): ReceiverAnswer {
  const decision = id.startsWith('d-') ? decisions.get(id) : null;
  const task = tasks.get(decision === null ? id : decision.taskId);
  const asked = decision === null ? '' : `${decision.decisionId} is ${decision.state}; `;
  const session =
    task.sessionId === null ? '' : ` (${task.sessionId} is ${sessions.get(task.sessionId).state})`;
  return ephemeralAnswer(`${asked}${task.taskId} is ${task.status}${session}: ${task.title}`, task.taskId);
}

function answerHelp({ webhook }: ReceiverConfig): string {
  const names = Object.keys(webhook.templates).sort();
  const list = names.length === 0 ? 'There are no templates.' : `Templates: ${names.join(', ')}.`;
  return `Write <template> <prompt>, approve <id>, deny <id> or status <id>. ${list}`;
}
