export { combinePolicies, type PullRequestPolicy } from './config.ts';
export { type AutomaticPullRequests, createAutomaticPullRequests } from './open-ordered.ts';
export { createPullRequestOrders } from './orders.ts';
export { describeRemote } from './programs.ts';
export { createPullRequestRecords, type PullRequestRecords } from './records.ts';
export { createPullRequestRounds } from './rounds.ts';
export { createForgeComments } from './send-comments.ts';
export { createPullRequestWatch } from './watch.ts';
