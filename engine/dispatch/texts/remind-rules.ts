import type { WorkerGuidance } from '../../workers/sessions/index.ts';
import type { TextContributor } from './texts.ts';

/** Reminds a worker of the workspace's rules: its agent may ignore the instructions of MCP servers. */
export const remindRules = (guidance: Pick<WorkerGuidance, 'listRules'>): TextContributor => ({
  name: 'rules',
  text: 'brief',
  section: 'help',
  write: ({ svc }) => (svc === null ? [] : guidance.listRules('worker', 'anyone').map((rule) => `- ${rule}`)),
});
