export { describeRun } from './describe-run.ts';
export { explainSvc } from './explain-svc.ts';
export { quoteTask } from './quote-task.ts';
export { recallEarlierRun } from './recall-earlier-run.ts';
export { remindRules } from './remind-rules.ts';
export { composeText, type TextContributor } from './texts.ts';
