import { sentence } from '../../../../core/base/sentence.ts';
import type { GuidanceTexts } from '../rules.ts';

export const english: GuidanceTexts = {
  entry_chair: sentence`You decide and hand work out: let workers do what takes long, and keep your own context for the whole.`,
  clarify_before_spawn: sentence`Settle open questions with the person before you start a worker; it cannot ask what you have left out.`,
  multiphase_tasks: sentence`Split work of several phases into tasks of their own with {task.add}, each with criteria that can be checked.`,
  workers_no_fanout: sentence`Start no workers or agents of your own. When the task is too big for one, say so with {ask}.`,
  search_before_create: sentence`Search for existing code before you write new, and use what is there.`,
  lock_shared: sentence`Lock what others share with {lock.acquire} before you edit it, and let it go with {lock.release} when you are done.`,
  bus_only: sentence`Talk to other sessions with {msg.send} and {ask} only, never by files, comments or commit messages.`,
  disk_memory: sentence`Keep what the next session should know with {memory.remember}, not in your context; look with {memory.recall} before you decide.`,
  crush: sentence`Keep long output out of your context: pipe it through \`svc context crush\` in your shell, which leaves what counts and says how to get the rest.`,
  externalize: sentence`Store a long text that you may need again with {context.externalize} and keep only its id; {context.retrieve} gives it back, {context.search} finds parts of it.`,
  auto_gateway: sentence`Outputs of tools may reach you shortened: for what a line with [svc-crush: or [svc-stored: leaves out, call {context.retrieve} with its id, and do not run the command again.`,
};
