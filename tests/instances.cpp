// The templates of precompiled.h that all tests share.
template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::serializer<nlohmann::ordered_json>;
template class std::vector<nlohmann::json>;
template class std::vector<nlohmann::ordered_json>;
template class std::vector<std::string>;
template class std::vector<std::int32_t>;
template class std::vector<std::size_t>;
template class std::vector<float>;
template class std::vector<double>;
template class std::map<std::string, std::string>;
