import type { TextContributor } from './texts.ts';

/** Explains to a worker how to communicate. Each job once by its tool and once by its command: not every agent has the tools. */
export const explainSvc = (): TextContributor => ({
  name: 'svc',
  text: 'brief',
  section: 'help',
  write({ session, task, placement, svc }) {
    if (svc === null) return [];
    const file = task.ledger ?? '';
    const criteria = task.acceptanceCriteria.map((_, at) => `--met ${at + 1}`).join(' ');
    return [
      `## You are not alone: svc`,
      '',
      `You are the session ${session.sessionId}. Use the tools of the MCP server \`svc\` if you have them, otherwise the command;`,
      `if your shell does not find \`svc\`, it is \`${svc}\`.`,
      '',
      '- stuck, or the choice is not yours: `ask` waits for the answer, or `svc ask open "Keep the old name?" -o yes -o no`',
      placement.worktree === null
        ? '- before you edit a file here: `lock_acquire`, or `svc lock acquire <path>`; `svc lock release <path>` when you are done'
        : '- before you edit files shared with others outside this worktree: `lock_acquire`, or `svc lock acquire <path>`; then `svc lock release <path>`',
      ...(task.ledger === null
        ? []
        : [
            `- before you start an item of the ledger: \`task_claim\`, or \`svc ledger claim ${file} <item>\`; \`svc ledger show ${file}\` lists them with who works on each`,
          ]),
      '- to message others: `msg_send`, or `svc msg send "the port is 8790 now" --to-role parent` (or `sibling`); `svc msg inbox` shows their messages to you',
      `- after your last commit, before you finish: \`verify_report\`, or \`svc verify report ${criteria}${criteria === '' ? '' : ' '}--passed "npm test" --summary "…"\`; report honestly: \`--unmet\`, \`--failed\``,
    ];
  },
});
