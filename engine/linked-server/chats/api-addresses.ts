export const TELEGRAM_API = 'https://api.telegram.org/';
export const SLACK_API = 'https://slack.com/api/';
