#include <lockstep/step.hpp>

#include <utility>

namespace lockstep {

Step::Step() = default;
Step::~Step() = default;
void Step::validate(Rules&) const {}

InPort::InPort(Step& step, std::string name, std::string_view type, std::string doc, bool is_optional,
               const Transfer* transfer)
    : info_{std::move(name), std::string(type), std::move(doc), is_optional, transfer} {
  step.declarations_.inputs.push_back(this);
}

const void* InPort::required() const {
  if (!value_) throw Error{"input '" + info_.name + "' is read but nothing is bound to it"};
  return value_.get();
}

OutPort::OutPort(Step& step, std::string name, std::string_view type, std::string doc, bool is_optional,
                 const Transfer* transfer)
    : info_{std::move(name), std::string(type), std::move(doc), is_optional, transfer} {
  step.declarations_.outputs.push_back(this);
}
OutPort::~OutPort() = default;

ParamBase::ParamBase(Step& step, ParamInfo info) : info_(std::move(info)) {
  step.declarations_.parameters.push_back(this);
}
ParamBase::~ParamBase() = default;

void ParamBase::assign(const Value& value, Location location) {
  location_ = std::move(location);
  store(value);
}

void Rules::error(const ParamBase& parameter, std::string message, std::string help) {
  findings_.push_back({&parameter, std::move(message), std::move(help)});
}

StepContext::StepContext() = default;
StepContext::~StepContext() = default;
Interrupted::Interrupted() = default;
Interrupted::~Interrupted() = default;

}  // namespace lockstep
