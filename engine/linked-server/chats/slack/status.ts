import type { Clock } from '../../../core/base/clock.ts';
import type { Log } from '../../../core/base/log.ts';
import type { ChatStatus } from '../service.ts';

/** The state of the bot: whether Slack accepts its token, and whether people's actions arrive. */
export interface StatusKeeper {
  current(): ChatStatus;
  /** Null if Slack accepts the token. */
  setTokenProblem(words: string | null): void;
  /** Null if people's actions arrive. */
  setReceiving(problem: string | null): void;
  close(): void;
}

export function createStatus({
  clock,
  log,
  botName,
}: {
  clock: Clock;
  log: Log;
  botName(): string | null;
}): StatusKeeper {
  let tokenProblem: string | null = null;
  let receivingProblem: string | null = null;
  let isReceiving = false;
  let isClosed = false;
  let shown: Pick<ChatStatus, 'state' | 'since' | 'problem'> = {
    state: 'starting',
    since: clock.now(),
    problem: null,
  };

  function findState(problem: string | null): ChatStatus['state'] {
    if (isClosed) return 'closed';
    if (problem !== null) return 'failing';
    return isReceiving ? 'open' : 'starting';
  }

  function update(): void {
    const problem = isClosed ? null : (tokenProblem ?? receivingProblem);
    const state = findState(problem);
    if (state === shown.state && problem === shown.problem) return;
    shown = { state, problem, since: state === shown.state ? shown.since : clock.now() };
    log.info({ chat: 'slack', state, problem }, 'a chat service changed its state');
  }

  return {
    current: () => ({ ...shown, botName: botName() }),
    setTokenProblem(words) {
      tokenProblem = words;
      update();
    },
    setReceiving(problem) {
      receivingProblem = problem;
      isReceiving = problem === null;
      update();
    },
    close() {
      isClosed = true;
      update();
    },
  };
}
