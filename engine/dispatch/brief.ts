import type { Task } from '../board/tasks/index.ts';
import type { Placement, Session } from '../sessions/index.ts';

/** What a worker reads in `.svc/TASK_BRIEF.md`. @param svc the command; null when the host has none to give */
export function brief(session: Session, task: Task, placement: Placement, svc: string | null): string {
  const facts = [
    `- session: ${session.sessionId} (worker ${session.workerId}, agent ${session.agent})`,
    `- folder: ${placement.cwd}`,
    ...(placement.branch === null
      ? []
      : [`- branch: ${placement.branch}, from ${placement.base ?? placement.baseCommit}`]),
    `- time: at most ${session.timeoutSec} s`,
    ...(task.ledger === null ? [] : [`- ledger: ${task.ledger}`]),
    placement.worktree === null
      ? '- others may work in this folder too; nothing is committed for you'
      : '- commit your work on this branch; what is left uncommitted is kept as a work-in-progress commit',
  ];
  return [
    `# ${task.taskId}: ${task.title}`,
    '',
    ...facts,
    '',
    task.prompt.trimEnd(),
    ...(svc === null ? [] : ['', ...howToTalk(session, task, placement, svc)]),
    '',
  ].join('\n');
}

/** Each job once by its tool and once by its command: not every agent has the tools. */
function howToTalk(session: Session, task: Task, placement: Placement, svc: string): string[] {
  const file = task.ledger ?? '';
  const criteria = task.acceptanceCriteria.map((_, at) => `--met ${at + 1}`).join(' ');
  return [
    `## You are not alone: svc`,
    '',
    `You are the session ${session.sessionId}. Use the tools of the MCP server \`svc\` where you have them, else the command;`,
    `where your shell does not find \`svc\`, it is \`${svc}\`.`,
    '',
    '- stuck, or the choice is not yours: `ask` waits for the answer, or `svc ask open "Keep the old name?" -o yes -o no`',
    placement.worktree === null
      ? '- before you edit a file here: `lock_acquire`, or `svc lock acquire <path>`; `svc lock release <path>` when you are done'
      : '- before you edit what is shared with others outside this worktree: `lock_acquire`, or `svc lock acquire <path>`; then `svc lock release <path>`',
    ...(task.ledger === null
      ? []
      : [
          `- before you begin an item of the ledger: \`task_claim\`, or \`svc ledger claim ${file} <item>\`; \`svc ledger show ${file}\` has them with who works on what`,
        ]),
    '- to tell others something: `msg_send`, or `svc msg send "the port is 8790 now" --to-role parent` (or `sibling`); `svc msg inbox` is what they tell you',
    `- after your last commit, before you finish: \`verify_report\`, or \`svc verify report ${criteria}${criteria === '' ? '' : ' '}--passed "npm test" --summary "…"\`; say what is so: \`--unmet\`, \`--failed\``,
  ];
}
