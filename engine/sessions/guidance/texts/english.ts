import { sentence } from '../../../base/sentence.ts';
import type { GuidanceTexts } from '../rules.ts';

export const english: GuidanceTexts = {
  entry_chair: sentence`You decide and delegate: let workers do the long work, and keep your own context for the overall picture.`,
  clarify_before_spawn: sentence`Settle open questions with the person before you start a worker; it cannot ask what you have left out.`,
  multiphase_tasks: sentence`Split work of several phases into separate tasks with {task.add}, each with criteria that can be checked.`,
  workers_no_fanout: sentence`Do not start workers or agents yourself. If the task is too big for one, say so with {ask}.`,
  search_before_create: sentence`Search for existing code before you write new code, and reuse it.`,
  lock_shared: sentence`Lock what others share with {lock.acquire} before you edit it, and release it with {lock.release} when you are done.`,
  bus_only: sentence`Communicate with other sessions only through {msg.send} and {ask}, never through files, comments or commit messages.`,
  disk_memory: sentence`Store what the next session should know with {memory.remember}, not in your context; check {memory.recall} before you decide.`,
  crush: sentence`Keep long output out of your context: pipe it through \`svc context crush\` in your shell, which keeps what matters and says how to get the rest.`,
  externalize: sentence`Store a long text that you may need again with {context.externalize} and keep only its id; {context.retrieve} returns it, {context.search} finds parts of it.`,
  auto_gateway: sentence`Tool outputs may reach you shortened: for what a line with [svc-crush: or [svc-stored: omits, call {context.retrieve} with its id, and do not run the command again.`,
};
