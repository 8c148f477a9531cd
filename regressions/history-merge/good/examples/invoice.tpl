{{! What a customer gets. }}
Invoice {{number}} for {{customer.name}}
{{#orders}}
Order of {{date}}{{#urgent}} (urgent){{/urgent}}
{{#lines}}
  {{amount}} x {{title}} at {{price}} {{currency}}
{{/lines}}
{{/orders}}
{{^orders}}
Nothing was ordered.
{{/orders}}
{{#notes}}
* {{.}}
{{/notes}}
